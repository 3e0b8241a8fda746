//! The paper's walk over two tries without virtual nodes (appendix A.1), statement by statement.

use std::collections::VecDeque;

use furui::raw::Node;

/// The nodes of two tries that have one path. One of the two may be missing.
pub(crate) type Pair<N> = (Option<N>, Option<N>);

/// Calls `visit` with the pair of the parent, or `None` for the roots, and the pair of the node.
pub(crate) fn walk_pairs<N: Node + Copy>(r1: N, r2: N, mut visit: impl FnMut(Option<&Pair<N>>, &Pair<N>)) {
    let mut q = VecDeque::from([(Some(r1), Some(r2))]);
    visit(None, &(Some(r1), Some(r2)));
    while let Some((p1, p2)) = q.pop_front() {
        let (mut n1, mut n2) = match (p1, p2) {
            (Some(a), Some(b)) if a.alphabet() == b.alphabet() => (a.first_child(), b.first_child()),
            (Some(a), Some(b)) if a.alphabet() < b.alphabet() => (a.first_child(), None),
            (Some(_), Some(b)) => (None, b.first_child()),
            (Some(a), None) => (a.first_child(), None),
            (None, Some(b)) => (None, b.first_child()),
            (None, None) => (None, None),
        };
        while n1.is_some() || n2.is_some() {
            q.push_back((n1, n2));
            visit(Some(&(p1, p2)), &(n1, n2));
            (n1, n2) = match (n1, n2) {
                (Some(a), Some(b)) if a.alphabet() == b.alphabet() => (a.sibling(), b.sibling()),
                (Some(a), Some(b)) if a.alphabet() < b.alphabet() => (a.sibling(), Some(b)),
                (Some(a), Some(b)) => (Some(a), b.sibling()),
                (Some(a), None) => (a.sibling(), None),
                (None, Some(b)) => (None, b.sibling()),
                (None, None) => (None, None),
            };
        }
    }
}
