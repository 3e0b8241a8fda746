//! Runs the examples, and checks what they assert.

#[path = "../examples/cache_digest.rs"]
mod cache_digest;
#[path = "../examples/digest_tree.rs"]
mod digest_tree;
#[path = "../examples/secret_hand.rs"]
mod secret_hand;
#[path = "../examples/similarity.rs"]
mod similarity;

#[test]
fn a_cache_digest_spares_requests() {
    cache_digest::main().unwrap();
}

#[test]
fn a_tree_of_digests_routes_queries() {
    digest_tree::main().unwrap();
}

#[test]
fn similarity_is_near_the_truth() {
    similarity::main().unwrap();
}

#[test]
fn hands_are_compared_without_showing_cards() {
    secret_hand::main().unwrap();
}
