use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use furui::search::{ContentId, IdRange, Meet, Peer, Request, Response, Search, Term, Wants, Weight, limits};
use furui_net::net::{Config, Identity, Net, Transport};
use tokio::runtime::Runtime;

use super::cluster::Cluster;
use super::corpus::{Corpus, Dice};
use super::{Done, Options};

/// How long each kind of request comes.
const LASTS: Duration = Duration::from_secs(8);
/// Requests that each peer has on the way at once.
const AT_ONCE: usize = 64;

/// Peers that send one node whatever costs it most, as fast as they can, while another asks something sensible.
pub(super) fn run(options: &Options) -> Done {
    let corpus = Corpus::new(options)?;
    let mut cluster = Cluster::new(options)?;
    let file = cluster.file("documents.jsonl");
    corpus.write(&file)?;
    cluster.grow(options.nodes)?;
    println!("{} nodes, {}; published: {}", options.nodes, corpus.describe(), cluster.publish(0, &file, false)?);
    cluster.settle()?;
    let (rss, most) = cluster.nodes[0].memory()?;
    println!("before: {rss} MiB, at most {most}");
    let runtime = Runtime::new()?;
    let mut dice = Dice::new(options.seed);
    for hostile in [1, 10] {
        for kind in ["store", "meet", "search", "size", "list", "compare", "nonsense"] {
            let peers = runtime.block_on(strangers(cluster.nodes[0].bootstrap(), hostile))?;
            let counts = Arc::new([const { AtomicU64::new(0) }; 3]);
            let until = Instant::now() + LASTS;
            for (net, victim) in &peers {
                for lane in 0..AT_ONCE {
                    let (net, victim, counts) = (net.clone(), victim.clone(), Arc::clone(&counts));
                    let mut dice = Dice::new(dice.next() ^ lane as u64);
                    runtime.spawn(async move {
                        while Instant::now() < until {
                            let request = request(kind, &net, &mut dice);
                            let answer = net.call(&victim, request).await;
                            let answer = answer.ok().and_then(|bytes| Response::decode(&bytes).ok());
                            let count = match answer {
                                Some(Response::Refused(_)) => 1,
                                Some(_) => 0,
                                None => {
                                    tokio::time::sleep(Duration::from_millis(5)).await;
                                    2
                                }
                            };
                            counts[count].fetch_add(1, Ordering::Relaxed);
                        }
                    });
                }
            }
            let (mut highest, mut exact, mut asked, mut slowest) = (0, 0, 0, Duration::ZERO);
            while Instant::now() < until {
                let query = corpus.pair(&mut dice);
                let start = Instant::now();
                let found = cluster.nodes[options.nodes - 1].search_all(&query).unwrap_or_default().len();
                slowest = slowest.max(start.elapsed());
                (exact, asked) = (exact + u64::from(found == corpus.answer(&query).len()), asked + 1);
                highest = highest.max(cluster.nodes[0].memory()?.0);
            }
            runtime.block_on(async {
                for (net, _) in &peers {
                    net.shutdown().await;
                }
            });
            cluster.settle()?;
            let [answered, refused, silent] = [0, 1, 2].map(|kind| counts[kind].load(Ordering::Relaxed));
            let ((now, most), status) = (cluster.nodes[0].memory()?, cluster.nodes[0].status()?);
            println!(
                "{hostile} hostile, {kind}: {answered} answered, {refused} refused, {silent} failed; memory {highest} MiB, \
                 {now} after, {most} at most ever; {} MiB on disk; {exact} of {asked} queries right meanwhile, the slowest {} ms",
                status["disk"].as_u64().unwrap_or_default() >> 20,
                slowest.as_millis()
            );
        }
    }
    Ok(())
}

/// Nodes of the network that mean no good, each with the victim as it knows it.
async fn strangers(bootstrap: &str, count: usize) -> Done<Vec<(Net, Peer)>> {
    let mut strangers = Vec::new();
    for _ in 0..count {
        let mut config = Config::new(Identity::generate(), Transport::Tcp);
        config.bootstrap = vec![bootstrap.to_owned()];
        let (net, inbound) = Net::start(config).await?;
        net.joined().await;
        // What it is asked it never answers, but keeps.
        tokio::spawn(async move {
            let (mut inbound, mut kept) = (inbound, Vec::new());
            while let Some(request) = inbound.recv().await {
                kept.push(request.reply);
            }
        });
        let port = bootstrap.split('/').nth(4).and_then(|port| port.parse::<u16>().ok()).ok_or("no port")?;
        // A multiaddress in bytes: protocol and address in five, protocol in one, the port.
        let victim = net
            .peers()
            .await
            .into_iter()
            .find(|peer| peer.address().get(6..8) == Some(&[(port >> 8) as u8, port as u8]));
        strangers.push((net, victim.ok_or("the victim is not known")?));
    }
    Ok(strangers)
}

fn id(dice: &mut Dice) -> ContentId {
    let mut bytes = [0; ContentId::BYTES];
    bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&dice.next().to_le_bytes()[..chunk.len()]));
    ContentId::new(bytes)
}

fn request(kind: &str, net: &Net, dice: &mut Dice) -> Vec<u8> {
    let word = |dice: &mut Dice| format!("w{}", dice.below(3));
    let request = match kind {
        "store" => {
            let postings = (0..40)
                .map(|_| (format!("x{}", dice.next()), (0..1000).map(|_| (id(dice), Weight::default())).collect()));
            Request::Store {
                postings: postings.collect(),
                records: vec![(furui::search::Lock::new([7; 20]), vec![7; 100_000])],
            }
        }
        "meet" => {
            // As ids: what takes the most room.
            let mut ids: Vec<ContentId> = (0..limits::IDS).map(|_| id(dice)).collect();
            ids.sort_unstable();
            let set = furui::search::CodedSet::encode(&ids, IdRange::ALL, furui::search::Coding::Ids);
            Request::Meet(Meet {
                word: word(dice),
                range: IdRange::ALL,
                weighted: false,
                set: set.map(|set| set.bytes).unwrap_or_default(),
            })
        }
        "search" => {
            let me = net.me();
            let term = |word: String, holders| Term { word, size: 1 << 40, holders };
            Request::Search(Search {
                must: vec![term(word(dice), Vec::new()), term("other".to_owned(), vec![me])],
                without: Vec::new(),
                range: IdRange::ALL,
                most: limits::IDS as u32,
                wants: Wants::Best,
                salt: dice.next(),
                ranking: None,
            })
        }
        "size" => Request::Size { words: (0..limits::WORDS).map(|_| word(dice)).collect() },
        "list" => Request::List { words: (0..limits::LISTED).map(|_| word(dice)).collect(), range: IdRange::ALL },
        "compare" => Request::Compare { from: String::new(), since: 0 },
        _ => return (0..100_000).flat_map(|_| dice.next().to_le_bytes()).collect(),
    };
    request.encode().unwrap_or_default()
}
