//! Hostile nodes: they join the network, so that they are keepers of words and documents.

use crate::common::UNSIGNED;
use std::sync::atomic::{AtomicUsize, Ordering};

use furui_net::net::Net;
use furui_net::node::Node;
use furui_search::{
    CodedSet, ContentId, Grade, Listed, Matcher, Met, Part, Peer, Place, Publication, PublisherKey, Ranked, Refusal,
    Request, Response, Shown, Weight, Withdrawal, WordSize,
};

use super::town::{LONG, config};

/// An adaptive node is honest for so many requests.
const HONEST_FOR: usize = 200;

/// How a hostile node treats requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Manner {
    /// It never answers.
    Silent,
    /// It says that it has everything, and that there is nothing.
    Hides,
    /// It makes up sizes, documents, surveys, lists and withdrawals.
    Forges,
    /// It answers as an honest node does, but shows other titles, pieces of text and weights.
    ShowsFalsely,
    /// It answers as an honest node does for some time, then makes everything up.
    Adapts,
}

/// Joins as a hostile node. It has no data: what it needs to pass for an honest node, it asks `honest`.
pub async fn join(address: String, honest: &Node, manner: Manner) -> Net {
    let (net, mut inbound) = Net::start(config(&address, Some(honest))).await.unwrap();
    tokio::time::timeout(LONG, net.joined()).await.unwrap();
    let (relay, source) = (net.clone(), honest.net().me());
    tokio::spawn(async move {
        let (asked, mut kept) = (AtomicUsize::new(0), Vec::new());
        while let Some(inbound) = inbound.recv().await {
            let Ok(request) = Request::decode(&inbound.request) else { continue };
            let number = asked.fetch_add(1, Ordering::Relaxed);
            match manner {
                Manner::Silent => kept.push(inbound.reply),
                Manner::Hides => drop(inbound.reply.send(hide(&request).encode().unwrap())),
                Manner::Adapts if number < HONEST_FOR => {
                    pass_on(&relay, &source, inbound.request, inbound.reply, |it| it)
                }
                Manner::Forges | Manner::Adapts => drop(inbound.reply.send(forge(&request).encode().unwrap())),
                Manner::ShowsFalsely => pass_on(&relay, &source, inbound.request, inbound.reply, falsify),
            }
        }
    });
    net
}

/// Answers as the honest node does, apart from a change.
fn pass_on(net: &Net, to: &Peer, request: Vec<u8>, reply: furui_net::net::Reply, change: fn(Response) -> Response) {
    let (net, to) = (net.clone(), to.clone());
    tokio::spawn(async move {
        let answer = net.call(&to, request).await.ok();
        if let Some(response) = answer.and_then(|bytes| Response::decode(&bytes).ok()) {
            let _ = reply.send(change(response).encode().unwrap());
        }
    });
}

const NOWHERE: Publication = Publication { signature: UNSIGNED, first: 0, network: 0 };

/// Titles, pieces of text and weights of another document.
fn falsify(response: Response) -> Response {
    let Response::Shown { mut documents, settled } = response else { return response };
    for shown in &mut documents {
        if let Shown::Document(document) = shown {
            let showing = &mut document.showing;
            showing.snippet.text = "buy this".into();
            showing.snippet.marks.clear();
            // Sometimes it only shows another piece of text.
            if showing.head.title.len() % 2 == 0 {
                showing.head.title.push_str(", forged");
                showing.grades.fill(Grade::of_bits(15 << 4));
            }
        }
    }
    Response::Shown { documents, settled }
}

/// Says that there is nothing, and that this is all.
pub fn hide(request: &Request) -> Response {
    match request {
        Request::Size { words } => {
            Response::Sizes(vec![WordSize { ids: 20, log_length: 12, whole: true, holders: vec![] }; words.len()])
        }
        Request::Search(_) => {
            Response::Ranked(Ranked { places: vec![], next: None, seen: 0, found: 0, whole: true, costs: vec![] })
        }
        Request::Meet(meet) => match CodedSet::decode(&meet.set) {
            Ok(set) => {
                let nothing = Matcher::new(set).without_session().finish();
                Response::Met(Met { matches: nothing.coded.bytes, whole: true, session: None, grades: vec![] })
            }
            Err(_) => Response::Refused(Refusal::Invalid),
        },
        Request::Settle(_) => Response::Settled(false),
        Request::Show { documents, .. } => {
            Response::Shown { documents: vec![Shown::Unknown; documents.len()], settled: true }
        }
        Request::Compare { .. } => Response::Compared { state: 1, lists: vec![], more: false },
        Request::List { words, .. } => Response::Listed(vec![Listed::default(); words.len()]),
        Request::Withdrawn { .. } => Response::Withdrawals { withdrawals: vec![], more: false },
        Request::Withdraw { .. } => Response::Withdrawn { gone: 0 },
        Request::Store { .. } | Request::Doubt { .. } => Response::Stored { new: 0 },
        Request::Near { .. } | Request::Beginning { .. } => Response::Near(vec![]),
    }
}

/// Makes everything up.
fn forge(request: &Request) -> Response {
    let id = |byte: u8| ContentId::new([byte; ContentId::BYTES]);
    match request {
        Request::Size { words } => {
            Response::Sizes(vec![WordSize { ids: 1 << 40, log_length: 12, whole: true, holders: vec![] }; words.len()])
        }
        Request::Search(_) => {
            let places = (0..10).map(|number| Place { score: 1 << 20, id: id(number) }).collect();
            Response::Ranked(Ranked { places, next: None, seen: 20, found: 20, whole: true, costs: vec![] })
        }
        Request::Meet(_) => Response::Met(Met { matches: vec![0xff; 500], whole: true, session: None, grades: vec![] }),
        Request::Show { documents, .. } => {
            let lie = |(id, part): &(ContentId, Part)| match part {
                Part::Presence => {
                    let publisher = PublisherKey::new([id.as_bytes()[0]; PublisherKey::BYTES]);
                    Shown::Withdrawn { publisher, signature: UNSIGNED }
                }
                Part::Snippet => Shown::Unfit,
                Part::Publisher => Shown::Publisher { publisher: PublisherKey::new([7; PublisherKey::BYTES]) },
                Part::Record | Part::Version => Shown::Record { publication: NOWHERE, record: b"no record".to_vec() },
            };
            Response::Shown { documents: documents.iter().map(lie).collect(), settled: true }
        }
        Request::Withdrawn { .. } => {
            let publisher = PublisherKey::new([9; PublisherKey::BYTES]);
            let withdrawal = |number| (Withdrawal { id: id(number), publisher, signature: UNSIGNED }, 30);
            Response::Withdrawals { withdrawals: (0..20).map(withdrawal).collect(), more: false }
        }
        Request::Compare { from, .. } => {
            let names = ["network", "of", "storm"].map(str::to_owned).into_iter().filter(|word| word > from);
            let lists = names.map(|word| (word, 20, 7)).collect();
            Response::Compared { state: 1, lists, more: false }
        }
        Request::List { words, .. } => {
            let ids: Vec<ContentId> = (0..20).map(id).collect();
            let (weights, days) =
                (vec![Weight::of_bits(Weight::PLAIN_USE | 15, 1).unwrap(); ids.len()], vec![29; ids.len()]);
            Response::Listed(vec![Listed { ids, weights, days, more: false }; words.len()])
        }
        other => hide(other),
    }
}
