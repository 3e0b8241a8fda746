//! The cost of a search: round trips, bytes, and the ids that are examined and held.

use std::time::Duration;

use furui_search::{ContentId, Querier, QueryEvent, QueryOptions, limits, plan};

use crate::node::Manner;
use crate::predict::predict;
use crate::world::{Outcome, World};
use crate::{CODINGS, WORDS, best, clause, page, query, whole_answer};

#[test]
fn two_known_words_take_two_round_trips_for_each_slice() {
    let mut world = World::new(4, 50, 20_000, &WORDS);
    let round_trip = world.links.one_way * 2;
    let mut took: Vec<Duration> = Vec::new();
    for (place, (first, _)) in WORDS.iter().enumerate() {
        for (second, _) in &WORDS[..place] {
            let clauses = [clause(&[first, second], &[])];
            let cold = world.run(query(&clauses, page(1)));
            let warm = world.run(Querier::new(&clauses, cold.known, page(2)).unwrap());
            let truth = world.ranked_truth(&clauses);
            assert!(warm.is_done() && warm.pages.concat() == truth[..truth.len().min(20)]);
            assert!(warm.report.lookups == 0 || *first == "nothing");
            // If nothing is found, other keepers are asked, too.
            if truth.is_empty() {
                assert!(warm.took <= 6 * round_trip, "{:?}", warm.took);
            } else {
                took.push(warm.took);
            }
        }
    }
    took.sort_unstable();
    let p95 = took[took.len() * 95 / 100];
    assert!(p95 <= 4 * round_trip, "{p95:?} of {took:?}");
    assert!(took[took.len() / 2] <= 2 * round_trip, "{took:?}");
}

#[test]
fn the_first_page_of_a_large_answer_comes_before_the_rest() {
    let mut world = World::new(5, 30, 60_000, &WORDS);
    let clauses = [clause(&["the", "of"], &[])];
    for wants in CODINGS {
        let outcome = world.run(query(&clauses, QueryOptions { wants, hosts: 1, explain: true, ..whole_answer(5) }));
        assert!(outcome.pages.concat() == world.ranked_truth(&clauses)[..limits::PAGE]);
        assert!(outcome.first_page.unwrap() < outcome.took, "{:?} of {:?}", outcome.first_page, outcome.took);
        // 36,000 ids are read in slices that begin with 1,024 and grow fourfold.
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
        assert!(outcome.pages.concat() == world.ranked_truth(&clauses)[..limits::PAGE]);
        assert!(world.settles > 0, "no third message");
        took.push((outcome.took, outcome.report.exchanged.sent_bits));
    }
    assert!(took[0] < took[1], "{took:?}");
}

#[test]
fn a_page_of_hot_words_looks_at_little_of_their_lists() {
    let mut world = World::new(6, 30, 60_000, &WORDS);
    let outcome = world.run(query(&[clause(&["the", "of"], &[])], QueryOptions { hosts: 1, explain: true, ..page(6) }));
    assert!(matches!(outcome.end, QueryEvent::Done { found: 20, more: true, .. }));
    // The first slice has 1,024 of 36,000 ids, and the second one 4,096.
    let seen = outcome.report.rounds.iter().map(|round| round.seen).sum::<u64>();
    assert!(seen <= 5 * 1024, "{seen}");
    assert!(outcome.most_ids_held <= 1024);
}

#[test]
fn the_best_of_one_word_take_one_slice_however_many_score_the_same() {
    let mut world = World::new(6, 20, 4000, &WORDS);
    for (word, _) in &WORDS[..9] {
        let clauses = [clause(&[word], &[])];
        let outcome = world.run(query(&clauses, QueryOptions { hosts: 1, explain: true, ..best(1, 10) }));
        assert_eq!(outcome.pages.concat(), world.ranked_truth(&clauses)[..10]);
        assert_eq!(outcome.report.rounds.len(), 1, "{word}");
    }
}

#[test]
fn the_best_ten_take_a_small_part_of_the_bytes_of_all() {
    // Lists of 20,000 and 60,000 ids that are independent of each other.
    let mut world = World::new(12, 20, 200_000, &[("short", 0.1), ("long", 0.3)]);
    let clauses = [clause(&["short", "long"], &[])];
    let bytes = |outcome: &Outcome| {
        let report = &outcome.report;
        report.sent_bytes + report.back_bytes + report.exchanged.sent_bytes + report.exchanged.back_bytes
    };
    let all = world.run(query(&clauses, whole_answer(1)));
    let ten = world.run(query(&clauses, best(2, 10)));
    assert!(all.is_done() && ten.is_done());
    let truth = world.ranked_truth(&clauses);
    assert_eq!(ten.pages.concat(), truth[..10]);
    let part = bytes(&ten) as f64 / bytes(&all) as f64;
    println!("{part:.3} of {} bytes", bytes(&all));
    assert!(part <= 0.35, "{part}");
}

#[test]
fn what_an_exchange_took_is_what_was_predicted() {
    let mut world = World::new(10, 30, 5000, &WORDS);
    let list = |world: &World, word: &str| world.lists[word].iter().copied().collect::<Vec<ContentId>>();
    for wants in CODINGS {
        let clauses = [clause(&["filter"], &["search", "table"])];
        let options = QueryOptions { wants, page: limits::PAGE, hosts: 1, explain: true, ..whole_answer(77) };
        let report = world.run(query(&clauses, options)).report;
        let [own, second, third] = ["filter", "search", "table"].map(|word| list(&world, word));
        let left: Vec<ContentId> = own.iter().copied().filter(|id| !second.contains(id)).collect();

        let [round] = &report.rounds[..] else { panic!("{:?}", report.rounds) };
        assert_eq!(round.words, ["filter", "search", "table"]);
        for (cost, own, other, narrowed) in
            [(&round.costs[0], &own, &second, false), (&round.costs[1], &left, &third, true)]
        {
            let sizes = (own.len() as u64, other.len() as u64);
            let mut coding = plan::choose_for_page(wants, sizes.0, sizes.1, 77);
            if narrowed {
                coding = plan::or_ids(coding, sizes.0, sizes.1);
            }
            let predicted = predict(own, other, coding).unwrap();
            assert_eq!((cost.coding, predicted.claim), (coding, None));
            assert_eq!((cost.sent_bits, cost.back_bits), (predicted.sent.bits, predicted.back.bits), "{wants:?}");
            // The bytes around the set are version, kind, word, a flag and a length. The bytes around the answer
            // are version, kind, two flags and two lengths.
            let number = |bytes: u64| 1 + u64::from(bytes >= 1 << 7) + u64::from(bytes >= 1 << 14);
            let word = if narrowed { "table" } else { "search" }.len() as u64;
            let around = 2 + 1 + word + 1 + number(predicted.sent.bytes);
            assert_eq!(cost.sent_bytes, predicted.sent.bytes + around, "{wants:?}");
            assert_eq!(cost.back_bytes, predicted.back.bytes + 5 + number(predicted.back.bytes), "{wants:?}");
        }
    }
}
