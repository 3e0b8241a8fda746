//! Searches although some nodes are dead, silent, slow or lying, some peers flood others, and some ids were chosen to
//! collide.

use std::time::Duration;

use furui_search::{
    AnswerEvent, Answerer, Coding, ContentId, Querier, QueryEvent, QueryOptions, Ranking, Refusal, Request, Response,
    Search, Term, Wants, limits,
};

use crate::node::{BAD, Lists, Manner, Node, number, peer};
use crate::world::{Links, World};
use crate::{CODINGS, WORDS, any_query, any_query_is_right, best, clause, query, whole_answer};

#[test]
fn one_honest_replica_of_each_word_is_enough() {
    for seed in 0..30 {
        let mut world = World::new(seed, 15, 1000, &WORDS);
        for node in 0..world.nodes.len() {
            if world.random.chance(0.3) {
                world.nodes[node].manner = BAD[world.random.below(BAD.len())];
            }
        }
        let honest = |word: &str| world.replicas(word).iter().any(|&node| world.nodes[node].manner == Manner::Honest);
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).filter(|word| honest(word)).collect();
        any_query_is_right(&mut world, &words, seed);
    }
}

#[test]
fn every_kind_of_bad_host_and_keeper_is_left_for_another() {
    for manner in BAD {
        for (word, other) in [("search", "filter"), ("filter", "search")] {
            let mut world = World::new(7, 30, 1000, &WORDS);
            // The two replicas that are asked first.
            let replicas = world.replicas(word);
            replicas[..2].iter().for_each(|&node| world.nodes[node].manner = manner);
            assert!(world.replicas(other).iter().all(|node| !replicas[..2].contains(node)), "choose another seed");
            let clauses = [clause(&[word, other], &[])];
            let outcome = world.run(query(&clauses, whole_answer(7)));
            assert!(outcome.is_done() && outcome.ids == world.truth(&clauses), "{manner:?}: {:?}", outcome.end);
            assert!(outcome.took < Duration::from_secs(30), "{manner:?}: {:?}", outcome.took);
        }
    }
}

#[test]
fn a_query_ends_whatever_happens() {
    let mut done = 0;
    for seed in 0..60 {
        let mut world = World::new(seed, 10, 500, &WORDS);
        world.links = Links { loss: 0.3, ..Links::ROUGH };
        for node in 0..world.nodes.len() {
            if world.random.chance(0.7) {
                world.nodes[node].manner = BAD[world.random.below(BAD.len())];
            }
        }
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        let clauses = any_query(&mut world.random, &words);
        let mut querier = query(&clauses, whole_answer(seed));
        let outcome = world.run_by(&mut querier);
        assert!(outcome.took < Duration::from_secs(200), "seed {seed}: {:?}", outcome.took);
        done += usize::from(outcome.is_done());
        let truth = world.truth(&clauses);
        assert!(outcome.ids.iter().all(|id| truth.contains(id)), "seed {seed}: wrong ids before the end");
        if let QueryEvent::Failed { .. } = outcome.end {
            // No document that comes before the last one found is missing.
            let truth = world.ranked_by(&clauses, |word| querier.idf(word).unwrap_or_default());
            assert!(truth.starts_with(&outcome.pages.concat()), "seed {seed}: gaps before the failure");
        }
    }
    assert!(done > 0, "none was answered");
}

#[test]
fn the_best_are_found_in_spite_of_bad_hosts_and_keepers_and_rough_links() {
    for (seed, manner) in (0..).zip(BAD.into_iter().cycle().take(24)) {
        let mut world = World::new(seed, 30, 2000, &WORDS);
        world.links = if seed % 2 == 0 { Links::ROUGH } else { Links::STEADY };
        for (word, _) in &WORDS[..8] {
            let bad = world.replicas(word)[seed as usize % 3];
            world.nodes[bad].manner = manner;
        }
        let clauses = [clause(&[WORDS[seed as usize % 8].0, WORDS[(seed as usize + 3) % 8].0], &[])];
        let honest =
            |word: &String| world.replicas(word).iter().any(|&node| world.nodes[node].manner == Manner::Honest);
        if !clauses[0].must.iter().all(honest) {
            continue;
        }
        let outcome = world.run(query(&clauses, best(seed, 20)));
        if outcome.is_done() {
            let truth = world.ranked_truth(&clauses);
            if manner == Manner::Liar {
                // A node that lies about the size of a word's list changes the weight of that word, and so the scores.
                let places = outcome.pages.concat();
                assert!(places.iter().all(|place| truth.iter().any(|true_place| true_place.id == place.id)));
            } else {
                assert_eq!(outcome.pages.concat(), truth[..truth.len().min(20)], "seed {seed}, {manner:?}");
            }
        }
    }
}

#[test]
fn one_silent_replica_in_three_costs_a_wait_and_no_timeout() {
    let (mut took, mut truths) = (vec![], 0);
    for seed in 0..30 {
        let mut world = World::new(seed, 40, 1000, &WORDS);
        let words: Vec<&str> = WORDS[..10].iter().map(|(word, _)| *word).collect();
        for word in &words {
            let silent = world.replicas(word)[seed as usize % 3];
            world.nodes[silent].manner = Manner::Silent;
        }
        for round in 0..5 {
            let [first, second] = [0, 1].map(|_| words[world.random.below(words.len())]);
            let answers = |word| world.replicas(word).iter().any(|&node| world.nodes[node].manner == Manner::Honest);
            if first == second || !answers(first) || !answers(second) {
                continue;
            }
            let clauses = [clause(&[first, second], &[])];
            let outcome = world.run(query(&clauses, whole_answer(round)));
            assert!(outcome.is_done());
            assert_eq!(outcome.ids, world.truth(&clauses));
            truths += outcome.ids.len();
            took.push(outcome.took);
        }
    }
    took.sort_unstable();
    let (median, p95) = (took[took.len() / 2], took[took.len() * 95 / 100]);
    // The expected time is two round trips for a look-up, one for the sizes and two for the search. A silent keeper is
    // waited for when sizes are compared, because it might contradict two that lie alike; and a host waits for it.
    assert!(took.len() > 100 && truths > 1000);
    assert!(median <= Links::STEADY.one_way * 10 + Duration::from_millis(600), "{median:?}, {p95:?} of {took:?}");
    assert!(p95 <= Links::STEADY.one_way * 10 + Duration::from_millis(900), "{median:?}, {p95:?} of {took:?}");
}

#[test]
fn a_silent_keeper_that_alone_is_known_is_not_waited_for_to_the_end() {
    for manner in BAD.into_iter().chain([Manner::Honest]) {
        let mut world = World::new(3, 40, 1000, &WORDS);
        world.named_first = 1;
        let nearest = world.replicas("sieve")[0];
        world.nodes[nearest].manner = manner;
        let clauses = [clause(&["sieve"], &[])];
        let outcome = world.run(query(&clauses, whole_answer(1)));
        assert!(outcome.is_done());
        assert_eq!(outcome.ids, world.truth(&clauses));
        let one_way = world.links.one_way;
        match manner {
            // A look-up takes two round trips, the requests for the list's size two, because the first node names the
            // others, and those for its only slice one.
            Manner::Honest => assert_eq!((outcome.took, outcome.report.lookups), (one_way * 10, 1)),
            Manner::Silent | Manner::Slow => {
                // The silent node is not waited for again when the slice is requested.
                assert_eq!(outcome.took, one_way * 8 + Duration::from_millis(300) + one_way * 4);
                assert_eq!((outcome.report.lookups, outcome.shun), (2, vec![peer(nearest)]));
            }
            _ => assert!(outcome.took < Duration::from_secs(2), "{manner:?}: {:?}", outcome.took),
        }
    }
    // If there is no other keeper, the search waits for the slow one.
    let mut world = World::new(3, 1, 1000, &WORDS);
    world.links.one_way = Duration::from_millis(400);
    let clauses = [clause(&["sieve"], &[])];
    let outcome = world.run(query(&clauses, whole_answer(1)));
    assert_eq!(outcome.ids, world.truth(&clauses));
    assert_eq!((outcome.report.messages, outcome.report.failures, outcome.shun), (2, 0, vec![]));
}

#[test]
fn a_host_that_falls_silent_is_not_waited_for_to_the_end() {
    for seed in 0..10 {
        let mut world = World::new(seed, 40, 1000, &WORDS);
        let clauses = [clause(&[WORDS[0].0, WORDS[1].0], &[])];
        let first = world.run(query(&clauses, whole_answer(1)));
        let host = first.known.iter().min_by_key(|word| word.term.size).unwrap().term.holders[0].clone();
        let host = number(&host).unwrap();
        world.nodes[host].manner = Manner::Silent;
        let known = Querier::new(&clauses, first.known, whole_answer(2)).unwrap();
        let outcome = world.run(known);
        assert!(outcome.is_done());
        assert_eq!(outcome.ids, world.truth(&clauses));
        assert!(outcome.took < Duration::from_secs(4), "{:?}", outcome.took);
    }
}

#[test]
fn who_was_silent_or_lied_is_asked_after_others_in_the_next_query() {
    for manner in BAD.into_iter().filter(|manner| *manner != Manner::Dead) {
        let mut world = World::new(7, 30, 1000, &WORDS);
        // The replica that is asked first.
        let bad = world.replicas("search")[0];
        world.nodes[bad].manner = manner;
        let clauses = [clause(&["search"], &[])];
        let options = |salt| QueryOptions { hosts: 2, ..whole_answer(salt) };
        let first = world.run(query(&clauses, QueryOptions { hosts: 3, ..options(1) }));
        assert_eq!(first.ids, world.truth(&clauses));
        let asked = std::mem::take(&mut world.nodes[bad].asked);
        assert!(asked > 0 && first.report.failures > 0, "{manner:?}");
        assert!(!first.shun.is_empty() && first.shun.iter().all(|it| *it == peer(bad)), "{manner:?}: {:?}", first.shun);

        // In the second query, the keepers are looked up, or they are already known and the bad one comes first.
        let mut known = first.known;
        known[0].term.holders.sort_by_key(|holder| *holder != peer(bad));
        for known in [vec![], known] {
            let mut second = Querier::new(&clauses, known.clone(), options(2)).unwrap();
            second.ask_last(first.shun.clone());
            let second = world.run(second);
            assert_eq!(second.ids, world.truth(&clauses));
            // All keepers are asked for the size of the list, if it is not known, and two others for its documents. Who
            // states an absurd size is asked for a sample of its list, too.
            let asked = std::mem::take(&mut world.nodes[bad].asked);
            let to_size = if manner == Manner::Liar { 2 } else { 1 };
            assert_eq!(asked, if known.is_empty() { to_size } else { 0 }, "{manner:?}");
            assert!(second.took <= first.took, "{manner:?}");
        }
    }
}

#[test]
fn who_is_asked_last_is_asked_when_nobody_else_is_left() {
    for honest in 0..3 {
        let mut world = World::new(7, 30, 1000, &WORDS);
        let replicas = world.replicas("search");
        for (place, &node) in replicas.iter().enumerate().filter(|(place, _)| *place != honest) {
            world.nodes[node].manner = BAD[place];
        }
        let clauses = [clause(&["search"], &[])];
        for last in [&replicas[..], &replicas[honest..=honest]] {
            let mut querier = query(&clauses, whole_answer(1));
            querier.ask_last(last.iter().map(|&node| peer(node)));
            let outcome = world.run(querier);
            assert!(outcome.is_done());
            assert_eq!(outcome.ids, world.truth(&clauses));
            // The honest node is not reported, although it was among the nodes to be asked last.
            assert!(!outcome.shun.contains(&peer(replicas[honest])));
        }
    }
}

#[test]
fn ids_that_are_ground_to_crowd_a_cell_do_not_hide_others() {
    let mut world = World::new(12, 20, 3000, &WORDS);
    // A publisher has 300 documents whose ids share their first 40 bits with an id of another publisher. Each document
    // has one or both of two words.
    let victim = *world.lists["bloom"].intersection(&world.lists["search"]).next().unwrap();
    let ground: Vec<ContentId> = (0..300)
        .map(|_| {
            let mut bytes = *victim.as_bytes();
            bytes[5..].fill_with(|| world.random.next() as u8);
            ContentId::new(bytes)
        })
        .collect();
    for (word, part) in [("search", &ground[..200]), ("filter", &ground[100..])] {
        world.publish(word, part);
    }
    for (must, without) in [
        (&["bloom", "search"][..], &[][..]),
        (&["bloom", "search", "filter"], &[]),
        (&["search", "filter"], &[]),
        (&["bloom"], &["filter", "search"]),
        (&["the", "search"], &["bloom"]),
    ] {
        let clauses = [clause(must, without)];
        for wants in CODINGS {
            let options = QueryOptions { wants, explain: true, ..whole_answer(3) };
            let outcome = world.run(query(&clauses, options));
            assert!(matches!(outcome.end, QueryEvent::Done { whole: true, .. }), "{must:?}: {:?}", outcome.end);
            assert_eq!(outcome.ids, world.truth(&clauses), "{must:?} without {without:?}, {wants:?}");
            assert_eq!(outcome.report.failures, 0, "nobody is blamed");
            if wants == Wants::Best && must == ["bloom", "search"] {
                // One replica was asked twice, the second time with a set of ids.
                let cost = outcome.report.rounds[0].costs[0];
                assert_eq!(cost.coding, Coding::Ids);
                assert!(cost.sent_bits > 160 * outcome.report.rounds[0].seen);
            }
        }
    }
}

#[test]
fn a_peer_that_floods_is_refused_and_others_are_not() {
    let mut world = World::new(11, 10, 60_000, &WORDS);
    let node = world.replicas("the")[0];
    let Node { answerer, lists, .. } = &mut world.nodes[node];
    let term = |word: &str| Term { word: word.into(), size: 40_000, holders: vec![peer(1000)] };
    let search = |most: usize| {
        let (must, without) = (vec![term("the"), term("elsewhere")], vec![]);
        let ranking = Ranking { log_length: 6, idfs: vec![1, 1], best: 10, floor: 0, after: None, from: None };
        Request::Search(Search { must, without, most: most as u32, wants: Wants::Best, salt: 1, ranking })
    };
    let mut now = Duration::ZERO;
    let refused = |answerer: &mut Answerer, lists: &mut Lists, from: usize, most: usize, now| {
        assert!(answerer.on_request(&peer(from), 0, search(most), now, lists).is_none());
        let refused = Response::Refused(Refusal::Busy);
        match answerer.poll() {
            Some(AnswerEvent::Respond { response, .. }) if response == refused => true,
            Some(AnswerEvent::Send { .. }) => false,
            other => panic!("{other:?}"),
        }
    };
    // One peer sends large searches, and many searches.
    let large = (0..100).filter(|_| !refused(answerer, lists, 1, limits::IDS, now)).count();
    assert_eq!(large, limits::MEETING_IDS_A_PEER / limits::IDS);
    let many = (0..100).filter(|_| !refused(answerer, lists, 2, 100, now)).count();
    assert_eq!(many, limits::MEETINGS_A_PEER);
    // Many peers together exceed the limits.
    let together = (3..300).filter(|&from| !refused(answerer, lists, from, limits::IDS, now)).count();
    assert!((20..32).contains(&together), "{together}");
    assert!(answerer.ids_held().0 <= limits::MEETING_IDS);
    assert!(refused(answerer, lists, 300, limits::IDS, now));
    // No other node answers, so all meetings end.
    while let Some(deadline) = answerer.deadline() {
        now = now.max(deadline);
        answerer.on_time(now, lists);
    }
    assert!(now < Duration::from_secs(10));
    assert_eq!(answerer.ids_held(), (0, 0));
}
