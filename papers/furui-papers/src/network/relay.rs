use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::cluster::{Cluster, free_port};
use super::corpus::{Corpus, Dice};
use super::page::{Page, Step};
use super::{Done, Options};

/// The delay of a byte in each direction.
const DELAY: Duration = Duration::from_millis(50);
/// The number of bytes that are sent back and forth to measure the round-trip time.
const ECHOES: usize = 50;
/// The maximum number of pieces in flight in one direction of a connection.
const PIECES: usize = 1024;
/// The number of slowest queries whose steps are printed.
const SLOWEST: usize = 12;

/// Measures nodes that are reached through relays that delay every byte.
pub(super) fn run(options: &Options) -> Done {
    let corpus = Corpus::new(options)?;
    let runtime = Runtime::new()?;
    let mut cluster = Cluster::new(options)?;
    let mut dice = Dice::new(options.seed);
    let file = cluster.file("documents.jsonl");
    corpus.write(&file)?;
    for _ in 0..options.nodes {
        let (relay, node) = (free_port()?, free_port()?);
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", relay)))?;
        runtime.spawn(relay_to(listener, node));
        cluster.add(Some((relay, node)))?;
    }
    println!("{} nodes, {} ms each way, {}", options.nodes, DELAY.as_millis(), corpus.describe());
    let round_trip = runtime.block_on(round_trip())?;
    println!("a round trip through a relay: {:.1} ms", round_trip.as_secs_f64() * 1e3);
    let print = |what: &str, times: Vec<Duration>| print(what, times, round_trip);
    println!("settled after {:.1} s", cluster.settle()?.as_secs_f64());
    println!("published: {}", cluster.publish(0, &file, false)?);
    println!("settled after {:.1} s", cluster.settle()?.as_secs_f64());
    let queries: Vec<String> = (0..options.queries).map(|_| corpus.pair(&mut dice)).collect();
    for what in ["cold: words that were not searched for before", "warm: the cold queries again"] {
        let (mut pages, mut exact) = (Vec::new(), 0);
        for query in &queries {
            let truth = corpus.answer(query);
            let page = cluster.nodes[options.nodes - 1].search(query, 10, None)?;
            exact += usize::from(page.urls.len() == truth.len().min(10) && page.whole);
            pages.push((query, page));
        }
        println!("{what}: {exact} of {} right", queries.len());
        let print_all =
            |what, time: fn(&Page) -> Duration| print(what, pages.iter().map(|(_, page)| time(page)).collect());
        print_all("  look-up: keepers and sizes of the lists", Page::looked_up);
        print_all("  first document", |page| page.first);
        print_all("  end of the page", |page| page.last);
        print_all("  from the look-up to the end of the page", after_look_up);
        pages.sort_by_key(|(_, page)| std::cmp::Reverse(after_look_up(page)));
        for (query, page) in &pages[..SLOWEST.min(pages.len())] {
            println!("  {} ms after the look-up, {query}:", after_look_up(page).as_millis());
            for Step { what, done } in &page.steps {
                println!("    {what}{}", done.map_or(String::new(), |done| format!(" ({} ms)", done.as_millis())));
            }
        }
    }
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for query in queries.iter().filter(|query| corpus.answer(query).len() > 300).take(20) {
        let page = cluster.nodes[options.nodes - 1].search(query, 1000, None)?;
        first.push(page.first);
        last.push(page.last);
    }
    println!("{} queries of more than 300 documents, all of them:", first.len());
    print("  first document", first);
    print("  the end", last);
    Ok(())
}

fn after_look_up(page: &Page) -> Duration {
    page.last.saturating_sub(page.looked_up())
}

/// The median round-trip time of a byte and its echo.
async fn round_trip() -> Done<Duration> {
    let (relay, echo) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
    let (near, far) = (relay.local_addr()?, echo.local_addr()?.port());
    tokio::spawn(relay_to(relay, far));
    tokio::spawn(async move {
        let (mut stream, _) = echo.accept().await?;
        stream.set_nodelay(true)?;
        let (mut from, mut to) = stream.split();
        tokio::io::copy(&mut from, &mut to).await
    });
    let mut stream = TcpStream::connect(near).await?;
    stream.set_nodelay(true)?;
    let mut times = Vec::new();
    for _ in 0..ECHOES {
        let start = Instant::now();
        stream.write_all(&[7]).await?;
        stream.read_exact(&mut [0]).await?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[ECHOES / 2])
}

fn print(what: &str, mut times: Vec<Duration>, round_trip: Duration) {
    times.sort_unstable();
    let at = |part: f64| times.get(((times.len() - 1) as f64 * part) as usize).copied().unwrap_or_default();
    if times.is_empty() {
        return;
    }
    println!(
        "{what}: median {:.0} ms, p95 {:.0} ms ({:.2} round trips), most {:.0} ms",
        at(0.5).as_secs_f64() * 1e3,
        at(0.95).as_secs_f64() * 1e3,
        at(0.95).as_secs_f64() / round_trip.as_secs_f64(),
        at(1.0).as_secs_f64() * 1e3
    );
}

async fn relay_to(listener: TcpListener, port: u16) {
    while let Ok((near, _)) = listener.accept().await {
        tokio::spawn(async move {
            // The relay simulates a connection over a long distance.
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { return };
            // Errors are ignored: without the option, the relay is a little slower.
            let _ = (near.set_nodelay(true), far.set_nodelay(true));
            let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
            carry(near_in, far_out);
            carry(far_in, near_out);
        });
    }
}

fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let (pieces, mut on_the_way) = mpsc::channel::<(Instant, Vec<u8>)>(PIECES);
    tokio::spawn(async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let piece = (Instant::now() + DELAY, buffer[..count].to_vec());
            if pieces.send(piece).await.is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        while let Some((at, piece)) = on_the_way.recv().await {
            sleep_until(at).await;
            if to.write_all(&piece).await.is_err() {
                return;
            }
        }
    });
}
