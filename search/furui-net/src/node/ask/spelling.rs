use std::collections::HashMap;

use furui_search::{Request, Response, Spelling, in_parts, limits};
use futures::StreamExt;

use crate::node::{Node, call};
use crate::shelf::Shelf;

/// The number of other nodes that are asked for words. Chosen: a network of friends has no more, and in a larger one,
/// three of four words that many documents have are on one of them.
const ASKED: usize = 16;

impl Node {
    /// For each of these words that no document has, the nearest words that this node and some others have lists of, at
    /// most [`limits::NEAR`], the nearest first; for names with digits their parts. Words without a near one are left
    /// out.
    pub(in crate::node) async fn nearest(&self, words: Vec<String>) -> HashMap<String, Vec<String>> {
        let mut nearest = HashMap::new();
        for word in words {
            let Some(spelling) = Spelling::of(&word) else {
                nearest.extend(in_parts(&word).map(|parts| (word, vec![parts])));
                continue;
            };
            let own = spelling.clone();
            let known =
                self.ask_around(move |shelf| shelf.words_near(&own), &Request::Near { word: word.clone() }).await;
            let costs = known.iter().filter_map(|(word, documents)| Some((spelling.cost(word, *documents)?, word)));
            let mut costs: Vec<(f64, &String)> = costs.collect();
            costs.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(other.1)));
            let meant: Vec<String> = costs.iter().take(limits::NEAR).map(|(_, list)| spelling.meant(list)).collect();
            if !meant.is_empty() {
                nearest.insert(word, meant);
            }
        }
        nearest
    }

    /// The names of lists, each with the number of its documents, with which this node and some others answer this
    /// request.
    pub(super) async fn ask_around(
        &self,
        own: impl FnOnce(&mut Shelf) -> furui::Result<Vec<(String, u64)>> + Send + 'static,
        request: &Request,
    ) -> HashMap<String, u64> {
        let own = self.0.keeper.ask(own).await.and_then(Result::ok).unwrap_or_default();
        let mut known: HashMap<String, u64> = own.into_iter().collect();
        let net = &self.0.net;
        let peers = net.peers().await;
        let calls: Vec<_> = peers.iter().take(ASKED).map(|peer| call(net, peer, request)).collect();
        let mut answers = futures::stream::iter(calls).buffer_unordered(ASKED);
        while let Some(answer) = answers.next().await {
            let Some(Response::Near(words)) = answer else { continue };
            for (word, documents) in words {
                let most = known.entry(word).or_default();
                *most = documents.max(*most);
            }
        }
        known
    }
}
