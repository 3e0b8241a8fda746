//! Searches in which nodes say that they have only a part of the lists that they should keep.

use furui_search::{KnownWord, Querier, QueryEvent, QueryOptions, Term};

use crate::node::{BAD, LOG_LENGTH, Manner, peer};
use crate::world::World;
use crate::{WORDS, best, clause, query, whole_answer};

#[test]
fn lists_that_are_not_whole_are_asked_after_those_that_are() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &["table"])];
    let known: Vec<KnownWord> = world.run(query(&clauses, whole_answer(1))).known;
    // The first replicas have just come back, and hold nothing yet.
    for word in ["search", "filter", "table"] {
        let first = world.replicas(word)[0];
        world.nodes[first].lists.forget();
    }
    for known in [vec![], known] {
        let outcome = world.run(Querier::new(&clauses, known, whole_answer(2)).unwrap());
        assert!(matches!(outcome.end, QueryEvent::Done { whole: true, .. }), "{:?}", outcome.end);
        assert_eq!(outcome.ids, world.truth(&clauses));
    }
    // Without a whole list, the search finds the documents in partial lists, and says that the answer may be
    // incomplete.
    let last = world.replicas("search")[2];
    for node in world.replicas("search").into_iter().filter(|&node| node != last) {
        world.nodes[node].lists.forget();
    }
    world.nodes[last].lists.whole = false;
    let outcome = world.run(query(&clauses, whole_answer(3)));
    assert!(matches!(outcome.end, QueryEvent::Done { whole: false, .. }), "{:?}", outcome.end);
    assert_eq!(outcome.ids, world.truth(&clauses));
    // Nothing is learnt of a list of which only a part has answered, because a later query would trust its size.
    assert!(outcome.known.iter().all(|known| known.term.word != "search"), "{:?}", outcome.known);
}

#[test]
fn the_only_host_with_a_whole_list_is_asked_again_when_that_of_another_word_is_a_part() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &[])];
    let known = world.run(query(&clauses, whole_answer(1))).known;
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
        assert!(outcome.report.rounds.iter().any(|round| round.host == peer(*host) && round.found > 0));
    }
}

#[test]
fn who_keeps_a_part_of_all_lists_and_is_alone_answers_and_says_so() {
    for manner in [Manner::Silent, Manner::Liar] {
        // With three nodes, each node keeps every list.
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
fn who_refuses_or_has_not_everything_yet_is_not_shunned() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search", "filter"], &[])];
    let known = world.run(query(&clauses, whole_answer(1))).known;
    for word in ["search", "filter"] {
        let first = world.replicas(word)[0];
        world.nodes[first].lists.forget();
    }
    let outcome = world.run(Querier::new(&clauses, known, whole_answer(2)).unwrap());
    assert_eq!(outcome.ids, world.truth(&clauses));
    assert_eq!((outcome.report.failures, outcome.shun), (0, vec![]));

    // If the keepers of the other word do not answer, the nodes that run the search (the hosts) wait for them, but must
    // not look silent or dishonest because of that.
    for manner in BAD {
        let mut world = World::new(8, 30, 1000, &WORDS);
        for node in world.replicas("search") {
            world.nodes[node].manner = manner;
        }
        let known = ["filter", "search"].map(|word| {
            let (size, replicas) = (world.lists[word].len() as u64, world.replicas(word));
            let term = Term { word: word.into(), size, holders: replicas.into_iter().map(peer).collect() };
            KnownWord { term, log_length: LOG_LENGTH }
        });
        let outcome = world.run(Querier::new(&clauses, known.into(), whole_answer(3)).unwrap());
        assert!(matches!(outcome.end, QueryEvent::Failed { .. }) && outcome.report.failures > 0);
        let hosts: Vec<_> = world.replicas("filter").into_iter().map(peer).collect();
        assert!(outcome.shun.iter().all(|peer| !hosts.contains(peer)), "{manner:?}: {:?}", outcome.shun);
    }
}

#[test]
fn who_has_a_part_of_a_list_hides_nothing_when_documents_are_gone() {
    let mut world = World::new(8, 30, 1000, &WORDS);
    let clauses = [clause(&["search"], &[])];
    // One keeper has every second document, and says that its list is not whole.
    let keeper = world.replicas("search")[2];
    let part = world.lists["search"].iter().copied().step_by(2).collect();
    let lists = &mut world.nodes[keeper].lists;
    lists.keep("search", part);
    lists.whole = false;
    let mut querier = query(&clauses, QueryOptions { hosts: 3, ..best(1, 10) });
    let (mut found, mut gone) = (vec![], 0);
    loop {
        let outcome = world.run_by(&mut querier);
        found.extend(outcome.pages.concat());
        let QueryEvent::Done { more, .. } = outcome.end else { panic!("{:?}", outcome.end) };
        if !more {
            break;
        }
        // The first documents that the others name and the keeper lacks were withdrawn, so nobody has their records.
        for place in outcome.pages.concat().into_iter().filter(|place| querier.is_disputed(place)).collect::<Vec<_>>() {
            if gone < 8 {
                querier.miss(place);
                gone += 1;
            }
        }
        querier.resume(10);
    }
    found.sort_unstable();
    assert_eq!((found, gone), (world.ranked_truth(&clauses), 8));
}
