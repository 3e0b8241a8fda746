use crate::dict::trie::TrieError;
use crate::dict::trie::label::{MAX_TOKEN, Token};
use crate::dict::trie::parts::Names;
use crate::dict::trie::tokens::MAX_TOKENS;

/// The tokens of the merged trie: the tokens of the source that it inherits from (the heir), and one for every byte
/// that a token or a code of any source has. The heir's last tokens give way to bytes that it lacks.
pub(super) fn merged_tokens(heir: &[Token], sources: &[Names<'_>]) -> Result<Vec<Token>, TrieError> {
    let is_token = |token: &Token| (1..=MAX_TOKEN).contains(&usize::from(token[MAX_TOKEN]));
    if heir.len() > MAX_TOKENS || !heir.iter().all(is_token) {
        return Err(TrieError::Damaged);
    }
    let mut occurs = [false; 256];
    for source in sources {
        let tokens = source.tokens.iter().filter(|token| is_token(token));
        let bytes = tokens.flat_map(|token| &token[..usize::from(token[MAX_TOKEN])]);
        bytes.chain(source.texts).for_each(|&byte| occurs[usize::from(byte)] = true);
    }
    for token in heir.iter().filter(|token| token[MAX_TOKEN] == 1) {
        occurs[usize::from(token[0])] = false;
    }
    let missing = (0..=255).filter(|&byte| occurs[usize::from(byte)]);
    let kept = heir.len().min(MAX_TOKENS - missing.clone().count());
    let mut tokens = heir[..kept].to_vec();
    tokens.extend(missing.map(|byte| {
        let mut token = [0; MAX_TOKEN + 1];
        (token[0], token[MAX_TOKEN]) = (byte, 1);
        token
    }));
    let mut sorted: Vec<&[u8]> = tokens.iter().map(text_of).collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(TrieError::Damaged);
    }
    Ok(tokens)
}

pub(super) fn text_of(token: &Token) -> &[u8] {
    &token[..usize::from(token[MAX_TOKEN])]
}
