//! The breadth-first walk over two tries without virtual nodes.

use std::collections::VecDeque;

use furui::raw::Node;

/// The nodes at one position in two tries: first that of the newer trie, then that of the older one.
pub(super) type Pair<N> = (Option<N>, Option<N>);

/// The breadth-first walk over two tries in appendix A.1 of Koyanagi et al.
pub(super) fn breadth_first_pairs<N: Node + Clone, S>(
    roots: Pair<N>,
    mut visit: impl FnMut(Option<&S>, &Pair<N>) -> S,
) {
    let mut queue = VecDeque::new();
    let carried = visit(None, &roots);
    queue.push_back((roots, carried));
    while let Some(((p1, p2), carried)) = queue.pop_front() {
        let mut pair = match (p1, p2) {
            (Some(p1), Some(p2)) => {
                if p1.alphabet() == p2.alphabet() {
                    (p1.first_child(), p2.first_child())
                } else if p1.alphabet() < p2.alphabet() {
                    (p1.first_child(), None)
                } else {
                    (None, p2.first_child())
                }
            }
            (Some(p1), None) => (p1.first_child(), None),
            (None, Some(p2)) => (None, p2.first_child()),
            (None, None) => (None, None),
        };
        while pair.0.is_some() || pair.1.is_some() {
            let of_pair = visit(Some(&carried), &pair);
            let next = match &pair {
                (Some(n1), Some(n2)) => {
                    if n1.alphabet() == n2.alphabet() {
                        (n1.sibling(), n2.sibling())
                    } else if n1.alphabet() < n2.alphabet() {
                        (n1.sibling(), Some(n2.clone()))
                    } else {
                        (Some(n1.clone()), n2.sibling())
                    }
                }
                (Some(n1), None) => (n1.sibling(), None),
                (None, Some(n2)) => (None, n2.sibling()),
                (None, None) => (None, None),
            };
            queue.push_back((pair, of_pair));
            pair = next;
        }
    }
}
