//! Queries over simulated nodes, against brute force.

#![cfg(feature = "search")]
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

mod simulation;

use std::time::Duration;

use furui::search::{
    AnswerEvent, Answerer, Clause, CodingKind, ContentId, IdRange, Place, Querier, QueryEvent, QueryOptions, Refusal,
    Request, Response, Search, Survey, Term, Wants, limits, plan, predict,
};
use simulation::{BAD, Links, Lists, Manner, Node, Random, World, number, peer};

/// Words and the part of the documents that they are in.
const WORDS: [(&str, f64); 12] = [
    ("the", 0.7),
    ("of", 0.6),
    ("and", 0.4),
    ("search", 0.2),
    ("filter", 0.1),
    ("table", 0.08),
    ("hash", 0.05),
    ("ring", 0.02),
    ("bloom", 0.01),
    ("sieve", 0.004),
    ("quotient", 0.001),
    ("nothing", 0.0),
];

const CODINGS: [Wants; 5] = [
    Wants::Best,
    Wants::Naive,
    Wants::Fixed { bits: 2164, probes: 5 },
    Wants::Ringed { probes: Some(7), delta: 1000 },
    Wants::Ringed { probes: None, delta: 1000 },
];

fn clause(must: &[&str], without: &[&str]) -> Clause {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Clause { must: owned(must), without: owned(without), ..Clause::default() }
}

/// One to three conjunctions of one to five words, with or without words to leave out, of those that `allowed` has.
fn any_query(random: &mut Random, allowed: &[&str]) -> Vec<Clause> {
    let mut some = |least: usize, most: usize| -> Vec<&str> {
        (0..least + random.below(most - least + 1)).map(|_| allowed[random.below(allowed.len())]).collect()
    };
    let clauses = some(1, 3).len();
    (0..clauses).map(|_| clause(&some(1, 5), &some(0, 2))).collect()
}

fn whole_answer(salt: u64) -> QueryOptions {
    QueryOptions { limit: None, ..QueryOptions::new(salt) }
}

fn query(clauses: &[Clause], options: QueryOptions) -> Querier {
    Querier::new(clauses, vec![], options).unwrap()
}

#[test]
fn every_coding_finds_what_brute_force_finds() {
    let seed = 1;
    let mut world = World::new(seed, 20, 3000, &WORDS);
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).chain(["unheard"]).collect();
    for round in 0..60 {
        let clauses = any_query(&mut world.random, &words);
        for wants in CODINGS {
            let outcome = world.run(query(&clauses, QueryOptions { wants, ..whole_answer(round) }));
            let QueryEvent::Done { found, more: false, whole: true } = outcome.end else {
                panic!("seed {seed}, round {round}, {wants:?}: {:?}", outcome.end)
            };
            assert!(outcome.ids == world.truth(&clauses), "seed {seed}, round {round}, {wants:?}: {clauses:?}");
            assert_eq!(found, outcome.ids.len() as u64);
            assert!(outcome.pages.iter().rev().skip(1).all(|page| page.len() == 20));
        }
    }
}

#[test]
fn ids_that_are_ground_to_crowd_a_cell_do_not_hide_others() {
    let mut world = World::new(12, 20, 3000, &WORDS);
    // 300 documents of a publisher whose ids share their first 40 bits with one of another's, each with one of the words.
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
                // The same replica was asked again: two sets, the second of ids.
                let cost = outcome.report.rounds[0].costs[0];
                assert_eq!(cost.coding, CodingKind::Ids);
                assert!(cost.sent_bits > 160 * outcome.report.rounds[0].seen);
            }
        }
    }
}

#[test]
fn answers_are_right_over_rough_links() {
    for seed in 0..30 {
        let mut world = World::new(seed, 12, 1000, &WORDS);
        world.links = Links::ROUGH;
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        for round in 0..5 {
            let clauses = any_query(&mut world.random, &words);
            let outcome = world.run(query(&clauses, whole_answer(round)));
            assert!(outcome.is_done(), "seed {seed}, round {round}: {:?} of {clauses:?}", outcome.end);
            assert!(outcome.ids == world.truth(&clauses), "seed {seed}, round {round}: {clauses:?}");
        }
    }
}

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
        for round in 0..5 {
            let clauses = any_query(&mut world.random, &words);
            let outcome = world.run(query(&clauses, whole_answer(round)));
            assert!(outcome.is_done(), "seed {seed}, round {round}: {:?} of {clauses:?}", outcome.end);
            assert!(outcome.ids == world.truth(&clauses), "seed {seed}, round {round}: {clauses:?}");
        }
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
        let outcome = world.run(query(&clauses, whole_answer(seed)));
        assert!(outcome.took < Duration::from_secs(200), "seed {seed}: {:?}", outcome.took);
        done += usize::from(outcome.is_done());
        let truth = world.truth(&clauses);
        assert!(outcome.ids.iter().all(|id| truth.contains(id)), "seed {seed}: wrong ids before the end");
        if let QueryEvent::Failed { .. } = outcome.end {
            // What came is complete as far as it goes.
            assert!(truth.starts_with(&outcome.ids), "seed {seed}: gaps before the failure");
        }
    }
    assert!(done > 0, "none was answered");
}

#[test]
fn pages_by_cursor_have_neither_gaps_nor_duplicates() {
    let mut world = World::new(3, 20, 4000, &WORDS);
    for clauses in [
        vec![clause(&["the", "of"], &["and"])],
        vec![clause(&["the", "search"], &[]), clause(&["of", "filter"], &[]), clause(&["ring"], &["the"])],
    ] {
        let (mut after, mut ids, mut known) = (None, Vec::<ContentId>::new(), vec![]);
        loop {
            let options = QueryOptions { page: 50, limit: Some(50), after, ..QueryOptions::new(9) };
            let outcome = world.run(Querier::new(&clauses, known, options).unwrap());
            let QueryEvent::Done { more, .. } = outcome.end else { panic!("{:?}", outcome.end) };
            assert!(outcome.pages.len() <= 1);
            ids.extend(&outcome.ids);
            (after, known) = (outcome.ids.last().map(|&id| Place::by_id(id)), outcome.terms);
            if !more {
                break;
            }
        }
        assert_eq!(ids, world.truth(&clauses));
    }
}

const SURVEY: Survey = Survey { documents: 4000, mean_length: 40 };

/// The best so many, a page of ten at a time.
fn best(salt: u64, limit: u64) -> QueryOptions {
    QueryOptions { page: 10, limit: Some(limit), ranked: Some(SURVEY), ..QueryOptions::new(salt) }
}

#[test]
fn the_best_come_first_and_in_one_order_whatever_is_asked() {
    let mut world = World::new(5, 20, 4000, &WORDS);
    let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).chain(["unheard"]).collect();
    for round in 0..150 {
        let clauses = any_query(&mut world.random, &words);
        let limit = [1, 10, 25, 300, 4096][round as usize % 5];
        let truth = world.ranked_truth(&clauses, SURVEY);
        let wants = CODINGS[round as usize % CODINGS.len()];
        let outcome = world.run(query(&clauses, QueryOptions { wants, ..best(round, limit) }));
        let QueryEvent::Done { found, more, whole: true } = outcome.end else { panic!("{:?}", outcome.end) };
        let places = outcome.pages.concat();
        assert!(places == truth[..truth.len().min(limit as usize)], "round {round}: {clauses:?}");
        assert_eq!((found, more), (places.len() as u64, truth.len() > limit as usize), "round {round}: {clauses:?}");
    }
}

#[test]
fn pages_of_the_best_by_cursor_have_neither_gaps_nor_duplicates() {
    let mut world = World::new(3, 20, 4000, &WORDS);
    for clauses in [
        vec![clause(&["the", "of"], &["and"])],
        vec![clause(&["search"], &[])],
        vec![clause(&["the", "search"], &[]), clause(&["of", "filter"], &[]), clause(&["ring"], &["the"])],
    ] {
        let (mut after, mut places, mut known) = (None, Vec::<Place>::new(), vec![]);
        loop {
            let options = QueryOptions { after, ..best(9, 37) };
            let outcome = world.run(Querier::new(&clauses, known, options).unwrap());
            let QueryEvent::Done { more, .. } = outcome.end else { panic!("{:?}", outcome.end) };
            places.extend(outcome.pages.concat());
            (after, known) = (places.last().copied(), outcome.terms);
            if !more {
                break;
            }
        }
        assert_eq!(places, world.ranked_truth(&clauses, SURVEY));
    }
}

#[test]
fn the_best_of_one_word_take_one_slice_however_many_score_the_same() {
    let mut world = World::new(6, 20, 4000, &WORDS);
    for (word, _) in &WORDS[..9] {
        let clauses = [clause(&[word], &[])];
        let outcome = world.run(query(&clauses, QueryOptions { explain: true, ..best(1, 10) }));
        assert_eq!(outcome.pages.concat(), world.ranked_truth(&clauses, SURVEY)[..10]);
        assert_eq!(outcome.report.rounds.len(), 1, "{word}");
    }
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
            let truth = world.ranked_truth(&clauses, SURVEY);
            if manner == Manner::Liar {
                // Who lies about the size of a list has its word count for less.
                let places = outcome.pages.concat();
                assert!(places.iter().all(|place| truth.iter().any(|true_place| true_place.id == place.id)));
            } else {
                assert_eq!(outcome.pages.concat(), truth[..truth.len().min(20)], "seed {seed}, {manner:?}");
            }
        }
    }
}

#[test]
fn the_best_ten_take_a_small_part_of_the_bytes_of_all() {
    // Lists of 20,000 and 60,000, together in every document as likely as by chance.
    let mut world = World::new(12, 20, 200_000, &[("short", 0.1), ("long", 0.3)]);
    let clauses = [clause(&["short", "long"], &[])];
    let bytes = |outcome: &simulation::Outcome| {
        let report = &outcome.report;
        report.sent_bytes + report.back_bytes + report.exchanged.sent_bytes + report.exchanged.back_bytes
    };
    let all = world.run(query(&clauses, whole_answer(1)));
    let ten = world.run(query(&clauses, best(2, 10)));
    assert!(all.is_done() && ten.is_done());
    let survey_truth = world.ranked_truth(&clauses, SURVEY);
    assert_eq!(ten.pages.concat(), survey_truth[..10]);
    let part = bytes(&ten) as f64 / bytes(&all) as f64;
    println!("{part:.3} of {} bytes", bytes(&all));
    assert!(part <= 0.35, "{part}");
}

#[test]
fn two_known_words_take_three_round_trips_at_most() {
    let mut world = World::new(4, 50, 20_000, &WORDS);
    let round_trip = world.links.one_way * 2;
    let mut took: Vec<Duration> = Vec::new();
    for (place, (first, _)) in WORDS.iter().enumerate() {
        for (second, _) in &WORDS[..place] {
            let clauses = [clause(&[first, second], &[])];
            let cold = world.run(query(&clauses, QueryOptions::new(1)));
            let warm = world.run(Querier::new(&clauses, cold.terms, QueryOptions::new(2)).unwrap());
            let truth = world.truth(&clauses);
            assert!(warm.is_done() && truth.starts_with(&warm.ids) && warm.ids.len() == truth.len().min(20));
            assert!(warm.report.lookups == 0 || *first == "nothing");
            if *first != "nothing" {
                took.push(warm.took);
            }
        }
    }
    took.sort_unstable();
    let p95 = took[took.len() * 95 / 100];
    assert!(p95 <= 3 * round_trip, "{p95:?} of {took:?}");
    assert!(took[took.len() / 2] <= 2 * round_trip, "{took:?}");
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
    // Two round trips for the look-up, one for the sizes and two for the search; and both words' waits at once, and the host's.
    assert!(took.len() > 100 && truths > 1000);
    assert!(median <= Links::STEADY.one_way * 10 + Duration::from_millis(300), "{median:?} of {took:?}");
    assert!(p95 <= Links::STEADY.one_way * 10 + Duration::from_millis(600), "{p95:?} of {took:?}");
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
            // A look-up takes two round trips, the length of the list one, and one its only slice.
            Manner::Honest => assert_eq!((outcome.took, outcome.report.lookups), (one_way * 8, 1)),
            Manner::Silent | Manner::Slow => {
                assert_eq!(outcome.took, one_way * 8 + Duration::from_millis(300) + one_way * 4);
                assert_eq!((outcome.report.lookups, outcome.shun), (2, vec![peer(nearest)]));
            }
            _ => assert!(outcome.took < Duration::from_secs(2), "{manner:?}: {:?}", outcome.took),
        }
    }
    // Where there is no other, it is waited for.
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
        let host = first.terms.iter().min_by_key(|term| term.size).unwrap().holders[0].clone();
        let host = number(&host).unwrap();
        world.nodes[host].manner = Manner::Silent;
        let known = Querier::new(&clauses, first.terms, whole_answer(2)).unwrap();
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
        let first = world.run(query(&clauses, whole_answer(1)));
        assert_eq!(first.ids, world.truth(&clauses));
        let asked = std::mem::take(&mut world.nodes[bad].asked);
        assert!(asked > 0 && first.report.failures > 0, "{manner:?}");
        assert!(!first.shun.is_empty() && first.shun.iter().all(|it| *it == peer(bad)), "{manner:?}: {:?}", first.shun);

        // Whether the keepers are looked up, or known and the bad one the first of them.
        let mut known = first.terms;
        known[0].holders.sort_by_key(|holder| *holder != peer(bad));
        for known in [vec![], known] {
            let mut second = Querier::new(&clauses, known.clone(), whole_answer(2)).unwrap();
            second.ask_last(first.shun.clone());
            let second = world.run(second);
            assert_eq!(second.ids, world.truth(&clauses));
            assert_eq!((world.nodes[bad].asked, second.report.failures), (0, 0), "{manner:?}");
            assert!(second.shun.is_empty() && second.took < first.took);
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
            // Who fails is blamed, whoever was to be asked last, and nobody else is.
            assert!(!outcome.shun.contains(&peer(replicas[honest])));
        }
    }
}

#[test]
fn who_refuses_or_has_not_everything_yet_is_not_shunned() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &[])];
    let known = world.run(query(&clauses, whole_answer(1))).terms;
    for word in ["search", "filter"] {
        let first = world.replicas(word)[0];
        world.nodes[first].lists.forget();
    }
    let outcome = world.run(Querier::new(&clauses, known, whole_answer(2)).unwrap());
    assert_eq!(outcome.ids, world.truth(&clauses));
    assert_eq!((outcome.report.failures, outcome.shun), (0, vec![]));

    // Keepers of the other word that do not answer make none of the hosts look as if it were silent or lied, although
    // the hosts wait for them.
    for manner in BAD {
        let mut world = World::new(8, 30, 1000, &WORDS);
        for node in world.replicas("search") {
            world.nodes[node].manner = manner;
        }
        let known = ["filter", "search"].map(|word| Term {
            word: word.into(),
            size: world.lists[word].len() as u64,
            holders: world.replicas(word).into_iter().map(peer).collect(),
        });
        let outcome = world.run(Querier::new(&clauses, known.into(), whole_answer(3)).unwrap());
        assert!(matches!(outcome.end, QueryEvent::Failed { .. }) && outcome.report.failures > 0);
        let hosts: Vec<_> = world.replicas("filter").into_iter().map(peer).collect();
        assert!(outcome.shun.iter().all(|peer| !hosts.contains(peer)), "{manner:?}: {:?}", outcome.shun);
    }
}

#[test]
fn the_first_page_of_a_large_answer_comes_before_the_rest() {
    let mut world = World::new(5, 30, 60_000, &WORDS);
    let clauses = [clause(&["the", "of"], &[])];
    for wants in CODINGS {
        let outcome = world.run(query(&clauses, QueryOptions { wants, explain: true, ..whole_answer(5) }));
        assert_eq!(outcome.ids, world.truth(&clauses));
        assert!(outcome.first_page.unwrap() * 2 < outcome.took, "{:?} of {:?}", outcome.first_page, outcome.took);
        // 36,000 ids, from 1,024 fourfold up.
        assert_eq!(outcome.report.rounds.len(), 4);
        assert!(outcome.most_ids_held <= 2 * limits::IDS);
        let costs = outcome.report.rounds.iter().flat_map(|round| &round.costs);
        assert_eq!(costs.map(|cost| cost.sent_bits).sum::<u64>(), outcome.report.exchanged.sent_bits);
    }
    assert!(world.nodes.iter().all(|node| node.lists.longest <= limits::IDS + 1));
}

#[test]
fn large_sets_meet_in_three_messages_and_again_in_two_if_the_third_fails() {
    let clauses = [clause(&["the", "of"], &[])];
    let mut took = vec![];
    for manner in [Manner::Honest, Manner::Forgetful] {
        let mut world = World::new(5, 30, 60_000, &WORDS);
        world.nodes.iter_mut().for_each(|node| node.manner = manner);
        let outcome = world.run(query(&clauses, whole_answer(5)));
        assert!(outcome.is_done());
        assert_eq!(outcome.ids, world.truth(&clauses));
        assert!(world.settles > 0, "no third message");
        took.push((outcome.took, outcome.report.exchanged.sent_bits));
    }
    assert!(took[0] < took[1], "{took:?}");
}

#[test]
fn a_page_of_hot_words_looks_at_little_of_their_lists() {
    let mut world = World::new(6, 30, 60_000, &WORDS);
    let outcome =
        world.run(query(&[clause(&["the", "of"], &[])], QueryOptions { explain: true, ..QueryOptions::new(6) }));
    assert!(matches!(outcome.end, QueryEvent::Done { found: 20, more: true, .. }));
    assert!(outcome.report.rounds.iter().map(|round| round.seen).sum::<u64>() <= 1024);
    assert!(outcome.most_ids_held <= 1024);
}

#[test]
fn lists_that_are_not_whole_are_asked_after_those_that_are() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &["table"])];
    let known: Vec<Term> = world.run(query(&clauses, whole_answer(1))).terms;
    // The first replicas have just come back: they hold nothing yet.
    for word in ["search", "filter", "table"] {
        let first = world.replicas(word)[0];
        world.nodes[first].lists.forget();
    }
    for known in [vec![], known] {
        let outcome = world.run(Querier::new(&clauses, known, whole_answer(2)).unwrap());
        assert!(matches!(outcome.end, QueryEvent::Done { whole: true, .. }), "{:?}", outcome.end);
        assert_eq!(outcome.ids, world.truth(&clauses));
    }
    // If there is no whole one, what there is, and that it may not be all.
    let last = world.replicas("search")[2];
    for node in world.replicas("search").into_iter().filter(|&node| node != last) {
        world.nodes[node].lists.forget();
    }
    world.nodes[last].lists.whole = false;
    let outcome = world.run(query(&clauses, whole_answer(3)));
    assert!(matches!(outcome.end, QueryEvent::Done { whole: false, .. }), "{:?}", outcome.end);
    assert_eq!(outcome.ids, world.truth(&clauses));
}

#[test]
fn the_only_host_with_a_whole_list_is_asked_again_when_that_of_another_word_is_a_part() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &[])];
    let known = world.run(query(&clauses, whole_answer(1))).terms;
    let [hosts, keepers] = ["filter", "search"].map(|word| world.replicas(word));
    assert!(hosts.iter().all(|node| !keepers.contains(node)), "choose another seed");
    let (host, empty) = hosts.split_first().unwrap();
    empty.iter().for_each(|&node| world.nodes[node].lists.forget());
    keepers.iter().for_each(|&node| world.nodes[node].lists.whole = false);
    for known in [vec![], known] {
        let options = QueryOptions { explain: true, ..whole_answer(2) };
        let outcome = world.run(Querier::new(&clauses, known, options).unwrap());
        assert!(matches!(outcome.end, QueryEvent::Done { whole: false, .. }), "{:?}", outcome.end);
        assert_eq!(outcome.ids, world.truth(&clauses));
        assert!(outcome.report.rounds.iter().all(|round| round.host == peer(*host)));
    }
}

#[test]
fn who_keeps_a_part_of_all_lists_and_is_alone_answers_and_says_so() {
    for manner in [Manner::Silent, Manner::Liar] {
        // Three nodes: each keeps every list.
        let mut world = World::new(9, 3, 1000, &WORDS);
        world.nodes[0].manner = manner;
        world.nodes[1].manner = manner;
        world.nodes[2].lists.whole = false;
        let clauses = [clause(&["search", "filter"], &["table"])];
        let outcome = world.run(query(&clauses, whole_answer(1)));
        assert!(matches!(outcome.end, QueryEvent::Done { whole: false, .. }), "{manner:?}: {:?}", outcome.end);
        assert_eq!(outcome.ids, world.truth(&clauses), "{manner:?}");
    }
}

#[test]
fn ids_are_ascending_and_none_comes_twice_in_a_union() {
    let mut world = World::new(9, 20, 5000, &WORDS);
    let clauses: Vec<Clause> = WORDS.iter().map(|(word, _)| clause(&[word], &[])).collect();
    let outcome = world.run(query(&clauses, QueryOptions { page: 7, ..whole_answer(1) }));
    assert!(outcome.ids.is_sorted_by(|a: &ContentId, b| a < b));
    assert_eq!(outcome.ids, world.truth(&clauses));
    assert!(outcome.most_ids_held <= (clauses.len() + 1) * limits::IDS);
}

#[test]
fn what_an_exchange_took_is_what_was_predicted() {
    let mut world = World::new(10, 30, 5000, &WORDS);
    let list = |world: &World, word: &str| world.lists[word].iter().copied().collect::<Vec<ContentId>>();
    for wants in CODINGS {
        let clauses = [clause(&["search", "filter"], &["table"])];
        let options = QueryOptions { wants, explain: true, ..whole_answer(77) };
        let report = world.run(query(&clauses, options)).report;
        let [own, second, third] = ["filter", "search", "table"].map(|word| list(&world, word));
        let both: Vec<ContentId> = own.iter().copied().filter(|id| second.contains(id)).collect();

        let [round] = &report.rounds[..] else { panic!("{:?}", report.rounds) };
        assert_eq!(round.words, ["filter", "search", "table"]);
        for (cost, own, other, narrowed) in
            [(&round.costs[0], &own, &second, false), (&round.costs[1], &both, &third, true)]
        {
            let sizes = (own.len() as u64, other.len() as u64);
            let mut coding = plan::choose(wants, sizes.0, sizes.1, IdRange::ALL, 77);
            if narrowed {
                coding = plan::or_ids(coding, sizes.0, sizes.1, IdRange::ALL);
            }
            let predicted = predict(own, other, IdRange::ALL, coding).unwrap();
            assert_eq!((cost.coding, predicted.claim), (coding.into(), None));
            assert_eq!((cost.sent_bits, cost.back_bits), (predicted.sent.bits, predicted.back.bits), "{wants:?}");
            // Around the set: version, kind, word, range, a flag, length; around the answer: version, kind, two flags, two
            // lengths.
            let number = |bytes: u64| 1 + u64::from(bytes >= 1 << 7) + u64::from(bytes >= 1 << 14);
            let word = if narrowed { "table" } else { "search" }.len() as u64;
            let around = 2 + 1 + word + 3 + number(predicted.sent.bytes);
            assert_eq!(cost.sent_bytes, predicted.sent.bytes + around, "{wants:?}");
            assert_eq!(cost.back_bytes, predicted.back.bytes + 5 + number(predicted.back.bytes), "{wants:?}");
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
        let (must, without, range) = (vec![term("the"), term("elsewhere")], vec![], IdRange::ALL);
        Request::Search(Search { must, without, range, most: most as u32, wants: Wants::Best, salt: 1, ranking: None })
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
    // One peer, with large searches and with many.
    let large = (0..100).filter(|_| !refused(answerer, lists, 1, limits::IDS, now)).count();
    assert_eq!(large, limits::MEETING_IDS_A_PEER / limits::IDS);
    let many = (0..100).filter(|_| !refused(answerer, lists, 2, 100, now)).count();
    assert_eq!(many, limits::MEETINGS_A_PEER);
    // Many peers, together.
    let together = (3..300).filter(|&from| !refused(answerer, lists, from, limits::IDS, now)).count();
    assert!((20..32).contains(&together), "{together}");
    assert!(answerer.ids_held().0 <= limits::MEETING_IDS);
    assert!(refused(answerer, lists, 300, limits::IDS, now));
    // Nobody answers, so all ends.
    while let Some(deadline) = answerer.deadline() {
        now = now.max(deadline);
        answerer.on_time(now, lists);
    }
    assert!(now < Duration::from_secs(10));
    assert_eq!(answerer.ids_held(), (0, 0));
}
