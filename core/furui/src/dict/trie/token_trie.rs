use super::label::{MAX_TOKEN, Token};

/// A trie of the tokens, which finds those that are prefixes of a text.
///
/// ```text
///   token trie as a double array        node ──byte b──▶ place base(node) + b, if its parent is the node
/// ```
///
/// A step from node to node takes one load and one comparison, in a table of 8 bytes for each node. Source: J. Aoe, "An
/// Efficient Digital Search Algorithm by Using a Double-Array Structure" (1989).
pub(super) struct TokenTrie {
    places: Vec<TokenPlace>,
}

/// A node of the trie in a word. The index of its place in the table is its name.
///
/// ```text
///   parent 25 bits │ the token that ends here + 1, 0 if none does 13 bits │ base 25 bits
/// ```
///
/// 25 bits suffice for names: at most 2¹⁶ places are taken. Each of them rules out at most 2⁸ bases for the children of
/// a node, and a child is less than 2⁸ places after its base.
#[derive(Clone, Copy)]
pub(super) struct TokenPlace(u64);

/// The number of bits of a node's name in a 64-bit word. The name is the node's index in the table.
pub(super) const NAME_BITS: u32 = 25;
/// The number of bits, in the 64-bit word of a node, that hold the number of a token plus one.
pub(super) const END_BITS: u32 = 13;
const NO_NAME: u32 = (1 << NAME_BITS) - 1;
/// The name of the root. The child of the root for a byte is at the index that equals the byte.
pub(super) const ROOT: u32 = NO_NAME - 1;
const FREE: TokenPlace = TokenPlace::new(NO_NAME, 0);

impl TokenPlace {
    const fn new(parent: u32, end: u32) -> Self {
        Self((parent as u64) << (NAME_BITS + END_BITS) | (end as u64) << NAME_BITS)
    }

    /// The name of the node's parent; in a free place, a number that is not the name of any node.
    #[inline(always)]
    pub(super) fn parent(self) -> u32 {
        (self.0 >> (NAME_BITS + END_BITS)) as u32
    }

    /// The number of the token that ends at the node, plus one; 0 if none does.
    #[inline(always)]
    pub(super) fn end(self) -> u32 {
        (self.0 >> NAME_BITS) as u32 & ((1 << END_BITS) - 1)
    }

    /// The index in the table of the child for byte 0. The child for byte b is b places after it.
    #[inline(always)]
    pub(super) fn base(self) -> u32 {
        self.0 as u32 & NO_NAME
    }
}

impl TokenTrie {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let mut sorted: Vec<(&[u8], u32)> =
            tokens.iter().zip(1..).map(|(token, end)| (&token[..usize::from(token[MAX_TOKEN])], end)).collect();
        sorted.sort_unstable();
        let mut this = Self { places: vec![FREE; 1 << 9] };
        // A stack of nodes whose children have no places yet, each with its name, its depth, and the tokens below it.
        // All places before `full` are taken, or reserved for the root's children.
        let mut open = vec![(ROOT, 0, sorted.as_slice())];
        let mut full = 0x100;
        while let Some((node, depth, below)) = open.pop() {
            let children: Vec<&[(&[u8], u32)]> = below.chunk_by(|a, b| a.0[depth] == b.0[depth]).collect();
            let byte = |child: &[(&[u8], u32)]| usize::from(child[0].0[depth]);
            // The child of the root for a byte lies at the index that equals the byte.
            let mut base = if node == ROOT { 0 } else { full - byte(children[0]) };
            while node != ROOT && !children.iter().all(|child| this.is_free(base + byte(child))) {
                base += 1;
            }
            this.places.resize(this.places.len().max(base + (1 << 9)), FREE);
            if let Some(place) = this.places.get_mut(node as usize) {
                place.0 |= base as u64;
            }
            for child in children {
                let name = base + byte(child);
                let (end, deeper) = match child {
                    [(token, end), deeper @ ..] if token.len() == depth + 1 => (*end, deeper),
                    deeper => (0, deeper),
                };
                this.places[name] = TokenPlace::new(node, end);
                if !deeper.is_empty() {
                    open.push((name as u32, depth + 1, deeper));
                }
            }
            while this.places[full].parent() != NO_NAME {
                full += 1;
            }
        }
        this
    }

    fn is_free(&self, place: usize) -> bool {
        // The first 256 places are reserved for the children of the root.
        place > 0xFF && self.places.get(place).is_none_or(|place| place.parent() == NO_NAME)
    }

    /// The node with this name, which is its index in the table. The index may be any base plus any byte.
    #[inline(always)]
    pub(super) fn place(&self, name: u32) -> TokenPlace {
        self.places[name as usize]
    }
}
