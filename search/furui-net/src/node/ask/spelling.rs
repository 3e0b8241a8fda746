use std::collections::HashMap;

use furui_search::{Request, Response, Spelling, in_parts, limits};
use futures::StreamExt;

use crate::node::{Node, call};

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
            let mut known: HashMap<String, u64> = HashMap::new();
            let mut learn = |words: Vec<(String, u64)>| {
                for (word, documents) in words {
                    let most = known.entry(word).or_default();
                    *most = documents.max(*most);
                }
            };
            let own = spelling.clone();
            let own = self.0.keeper.ask(move |shelf| shelf.words_near(&own, limits::NEAR)).await;
            learn(own.and_then(Result::ok).unwrap_or_default());
            let (net, request) = (&self.0.net, Request::Near { word: word.clone() });
            let peers = net.peers().await;
            let calls = peers.iter().take(ASKED).map(|peer| call(net, peer, &request));
            let mut answers = futures::stream::iter(calls.collect::<Vec<_>>()).buffer_unordered(ASKED);
            while let Some(answer) = answers.next().await {
                if let Some(Response::Near(words)) = answer {
                    learn(words);
                }
            }
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
}
