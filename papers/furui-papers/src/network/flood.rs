use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use furui_search::Response;
use tokio::runtime::Runtime;

use super::cluster::Cluster;
use super::corpus::{Corpus, Dice};
use super::hostile::{Arms, Hostile, KINDS, Kind};
use super::{Done, Options};

/// How long requests of each kind are sent.
const LASTS: Duration = Duration::from_secs(8);
/// The number of requests that each peer has in flight.
const AT_ONCE: usize = 64;
/// The pause after a failed request.
const PAUSE: Duration = Duration::from_millis(5);
/// How many of the most frequent words are considered for queries. Only words whose lists the node keeps are queried.
const HOT: usize = 16;

/// Floods one node with the requests that cost it most, from several peers and as fast as they can. Meanwhile, another
/// node sends ordinary queries.
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
    let hot = runtime.block_on(async {
        let spy = Hostile::join(cluster.nodes[0].bootstrap()).await?;
        let hot = spy.kept(corpus.frequent(HOT)).await?;
        spy.net.shutdown().await;
        Done::Ok(hot)
    })?;
    println!("flooded with questions for {}", hot.join(", "));
    let arms = Arms::new(hot, &corpus)?;
    for hostile in [1, 10] {
        for kind in KINDS {
            let bootstrap = cluster.nodes[0].bootstrap();
            let peers = (0..hostile).map(|_| runtime.block_on(Hostile::join(bootstrap))).collect::<Done<Vec<_>>>()?;
            let counts = Arc::new([const { AtomicU64::new(0) }; 3]);
            let until = Instant::now() + LASTS;
            for Hostile { net, victim } in &peers {
                for _ in 0..AT_ONCE {
                    let peer = Hostile { net: net.clone(), victim: victim.clone() };
                    let dice = Dice::new(dice.next());
                    runtime.spawn(flood(peer, kind, Arc::clone(&arms), dice, until, Arc::clone(&counts)));
                }
            }
            let (mut highest, mut exact, mut asked, mut times) = (0, 0, 0, Vec::new());
            while Instant::now() < until {
                let query = corpus.pair(&mut dice);
                let start = Instant::now();
                let found = cluster.nodes[options.nodes - 1].search_all(&query).unwrap_or_default().len();
                times.push(start.elapsed());
                (exact, asked) = (exact + u64::from(found == corpus.answer(&query).len()), asked + 1);
                highest = highest.max(cluster.nodes[0].memory()?.0);
            }
            runtime.block_on(async {
                for Hostile { net, .. } in &peers {
                    net.shutdown().await;
                }
            });
            cluster.settle()?;
            let [answered, refused, silent] = [0, 1, 2].map(|kind| counts[kind].load(Ordering::Relaxed));
            let ((now, most), status) = (cluster.nodes[0].memory()?, cluster.nodes[0].status()?);
            times.sort_unstable();
            println!(
                "{hostile} hostile, {kind:?}: {answered} answered, {refused} refused, {silent} failed; memory {highest} MiB, \
                 {now} after, {most} at most ever; {} MiB on disk; {exact} of {asked} queries right meanwhile, median {} ms, \
                 the slowest {} ms",
                status["disk"].as_u64().unwrap_or_default() >> 20,
                times[times.len() / 2].as_millis(),
                times[times.len() - 1].as_millis()
            );
        }
    }
    Ok(())
}

/// Sends requests one after the other, each after the answer to the one before.
async fn flood(
    peer: Hostile,
    kind: Kind,
    arms: Arc<Arms>,
    mut dice: Dice,
    until: Instant,
    counts: Arc<[AtomicU64; 3]>,
) {
    while Instant::now() < until {
        let request = arms.request(kind, peer.net.me(), &mut dice);
        let answer = peer.net.call(&peer.victim, request).await;
        let answer = answer.ok().and_then(|bytes| Response::decode(&bytes).ok());
        let count = match answer {
            Some(Response::Refused(_)) => 1,
            Some(_) => 0,
            None => {
                tokio::time::sleep(PAUSE).await;
                2
            }
        };
        counts[count].fetch_add(1, Ordering::Relaxed);
    }
}
