//! Private networks of real nodes, and nodes that find each other again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use crate::support::node::{Node, refusal, settle};
use crate::support::{TempDir, failure, furui, run};
use serde_json::json;

/// Publishes the documents with these numbers.
fn publish(node: &Node, documents: std::ops::Range<u32>) {
    let line = |n| format!("{{\"url\":\"http://a.example/{n:03}\",\"text\":\"all n{n}\"}}\n");
    node.publish(&documents.map(line).collect::<String>());
}

#[test]
fn a_newcomer_needs_a_line_and_the_key_stays_where_it_belongs() {
    let dir = TempDir::new();
    let key_file = dir.join("lab.key");
    let first = Node::start(&dir, "first", &["--new-network", &key_file, "--network-name", "lab"]);
    let text = fs::read_to_string(&key_file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[1], lines[3]), (4, "/key/swarm/psk/1.0.0/", "/base16/", "lab"));
    let key = lines[2];
    for file in [key_file.clone(), dir.join("first/network")] {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    publish(&first, 0..10);
    let line = first.invite();
    assert_eq!(line, format!("furui-network:lab,{key},{}", first.address));
    let in_file = dir.file("line", format!("{line}\n").as_bytes());
    let mut nodes = vec![first];
    for (data, join) in [("second", line.as_str()), ("third", &format!("@{in_file}"))] {
        nodes.push(Node::start(&dir, data, &["--join", join]));
        settle(&nodes);
        let newcomer = nodes.last().unwrap();
        assert_eq!(newcomer.count("all"), (10, true));
        // The newcomer can invite others, too.
        assert!(newcomer.invite().starts_with(&format!("furui-network:lab,{key},")));
    }
    let first = nodes.swap_remove(0);
    assert!(!first.status().to_string().contains(key) && first.status()["network"] == "lab");

    // Whoever has another key meets nobody.
    let stranger = Node::start(&dir, "stranger", &["--bootstrap", &first.address]);
    let other = line.replace(&key[..8], "00000000");
    let forger = Node::start(&dir, "forger", &["--join", &other]);
    let message = failure(&["invite", "--node", &stranger.url], b"");
    assert!(message.contains("the open network") && message.contains("--new-network"), "{message}");
    // A handshake with another key may take ten seconds to fail, so its failure is not waited for.
    std::thread::sleep(Duration::from_secs(2));
    for outsider in [&stranger, &forger] {
        assert_eq!((outsider.status()["peers"].as_u64(), outsider.count("all").0), (Some(0), 0));
    }
    assert_eq!(forger.status()["whole"], json!(false), "it was invited, and has met nobody");
}

#[test]
fn what_is_no_invitation_is_refused_without_repeating_it() {
    let dir = TempDir::new();
    let data = dir.join("node");
    let node = |arguments: &[&str]| refusal(&data, arguments);
    let key = "0123456789abcdef".repeat(4);
    for (line, why) in [
        (format!("furui-network:a b,{key}"), "no name of a network"),
        (format!("furui-network:lab,{key}0"), "64 hexadecimal digits"),
        (format!("furui-network:lab,{key},/ip4/192.0.2.1/tcp/1"), "its address 1"),
        (format!("network:lab,{key}"), "begins with furui-network:"),
        (format!("furui-network:lab,{key}{}", ",".repeat(5000)), "at most 4096 bytes"),
    ] {
        let file = dir.file("line", line.as_bytes());
        for message in [node(&["--join", &line]), node(&["--join", &format!("@{file}")]), node(&["--rekey", &line])] {
            assert!(message.contains(why) && !message.contains(&key[1..]), "{message}");
        }
    }
    assert!(node(&["--join", &format!("@{}", dir.join("none"))]).contains("none"));
    let key_file = dir.file("lab.key", b"a key");
    assert!(node(&["--new-network", &key_file]).contains("is not overwritten"));
    assert_eq!(fs::read(&key_file).unwrap(), b"a key");
    let new = dir.join("new.key");
    assert!(node(&["--new-network", &new, "--network-name", "a/b"]).contains("no name of a network"));
    assert!(node(&["--new-network", &new, "--rekey", "furui-network:lab"]).contains("without a line"));
    assert!(node(&["--rekey"]).contains("--rekey needs the line"));
    for arguments in
        [&["--network-name", "lab"][..], &["--join", "x", "--rekey", "x"], &["--join", "x", "--new-network", "x"]]
    {
        node(arguments);
    }
    // Documents of the open network do not go into another one by mistake.
    let open = Node::start(&dir, "node", &[]);
    publish(&open, 0..3);
    drop(open);
    for arguments in [["--new-network", &new], ["--join", &format!("furui-network:lab,{key}")]] {
        let message = node(&arguments);
        assert!(message.contains("documents of the open network") && message.contains("--rekey"), "{message}");
    }
    assert!(fs::metadata(&new).is_err());
    let moved = Node::start(&dir, "node", &["--new-network", &new, "--rekey"]);
    assert_eq!((moved.count("all"), moved.status()["network"].as_str()), ((3, true), Some("furui")));
}

#[test]
fn who_was_removed_finds_nobody_and_the_others_keep_their_documents() {
    let dir = TempDir::new();
    let first = Node::start(&dir, "a", &["--new-network", &dir.join("old.key")]);
    let old = first.invite();
    let second = Node::start(&dir, "b", &["--join", &old]);
    let third = Node::start(&dir, "c", &["--join", &old]);
    let mut nodes = vec![first, second, third];
    settle(&nodes);
    nodes.iter().zip([0..10, 10..20, 20..30]).for_each(|(node, part)| publish(node, part));
    settle(&nodes);
    let removed = nodes.pop().unwrap();
    drop(nodes);
    let first = Node::start(&dir, "a", &["--new-network", &dir.join("new.key"), "--rekey"]);
    let new = first.invite();
    assert_ne!(new.split(',').nth(1), old.split(',').nth(1));
    let second = Node::start(&dir, "b", &["--rekey", &new]);
    let nodes = [first, second];
    settle(&nodes);
    for node in &nodes {
        assert_eq!(node.count("all"), (30, true));
    }
    publish(&nodes[0], 30..40);
    removed.wait("being cut off", |status| status["cut_off"] == true && status["whole"] == false);
    assert_eq!(removed.count("all"), (30, false));
    // Its owner does not come in again either when it is started anew.
    drop(removed);
    let removed = Node::start(&dir, "c", &["--bootstrap", &nodes[0].address]);
    // A handshake with another key may take ten seconds to fail, so its failure is not waited for.
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!((removed.status()["peers"].as_u64(), removed.count("all")), (Some(0), (30, false)));
    settle(&nodes);
}

#[test]
fn after_a_power_cut_nodes_find_each_other_and_one_alone_says_that_it_is_not_whole() {
    for is_private in [false, true] {
        let dir = TempDir::new();
        let start = |number: usize, more: &[&str]| Node::start(&dir, &format!("node{number}"), more);
        let key = dir.join("a.key");
        let make = ["--new-network", &key];
        let mut nodes = vec![start(0, if is_private { &make } else { &[] })];
        let way = if is_private {
            ["--join".to_owned(), nodes[0].invite()]
        } else {
            ["--bootstrap".to_owned(), nodes[0].address.clone()]
        };
        nodes.extend((1..5).map(|number| start(number, &way.each_ref().map(String::as_str))));
        settle(&nodes);
        nodes.iter().zip(0..).for_each(|(node, number)| publish(node, 20 * number..20 * (number + 1)));
        settle(&nodes);
        let check = |nodes: &[Node]| {
            for node in nodes {
                assert_eq!(node.count("all"), (100, true));
                assert_eq!(node.count("all n7"), (1, true));
            }
        };
        check(&nodes);
        // A node writes its peers soon after it has met them. Dropping a node kills it.
        let peers = |number| dir.join(&format!("node{number}/peers"));
        for (number, node) in nodes.iter().enumerate() {
            node.wait("writing the peers", |_| {
                let written = fs::read_to_string(peers(number)).unwrap_or_default();
                nodes.iter().all(|other| written.contains(&other.address))
            });
        }
        let addresses: Vec<String> = nodes.iter().map(|node| node.address.clone()).collect();
        drop(nodes);
        let mode = fs::metadata(peers(0)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let nodes: Vec<Node> = (0..5).map(|number| start(number, &[])).collect();
        // Port 0 is the port of before.
        assert_eq!(nodes.iter().map(|node| node.address.clone()).collect::<Vec<_>>(), addresses);
        settle(&nodes);
        check(&nodes);

        drop(nodes);
        let alone = start(3, &[]);
        alone.wait("being alone", |status| status["cut_off"] == true);
        assert_eq!(alone.status()["whole"], json!(false));
        assert!(!alone.count("all").1);
        let message = String::from_utf8(run(&["search", "--node", &alone.url, "all"], b"").stderr).unwrap();
        assert!(message.contains("there may be more"), "{message}");
        let mut nodes = vec![alone];
        nodes.extend([0, 1, 2, 4].map(|number| start(number, &[])));
        settle(&nodes);
        check(&nodes);
        // A node that loses all others while it runs.
        nodes.truncate(1);
        nodes[0].wait("being alone again", |status| status["cut_off"] == true && status["whole"] == false);
        assert!(!nodes[0].count("all").1);
        nodes.push(start(4, &[]));
        settle(&nodes);
        drop(nodes);
        fs::write(peers(0), "12 nowhere\n").unwrap();
        let message = refusal(&dir.join("node0"), &[]);
        assert!(message.contains("peers: line 1") && message.contains("remove it"), "{message}");
    }
}

#[test]
fn of_two_nodes_on_one_port_the_second_ends_with_the_reason() {
    let dir = TempDir::new();
    let first = Node::start(&dir, "first", &[]);
    let (listen, _) = first.address.split_once("/p2p/").unwrap();
    let port = listen.rsplit('/').next().unwrap();
    for listen in [listen, &format!("/ip4/0.0.0.0/tcp/{port}")] {
        let message = refusal(&dir.join("second"), &["--listen", listen]);
        assert!(message.contains(&format!("cannot listen on {listen}: Address already in use")), "{message}");
    }
    let other = Node::start(&dir, "second", &["--bootstrap", &first.address]);
    other.wait("joining", |status| status["peers"] == 1);
}

#[test]
fn nodes_meet_over_ipv6() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        println!("SKIPPED: this machine has no IPv6");
        return;
    }
    let dir = TempDir::new();
    let key = dir.join("a.key");
    let first = Node::start(&dir, "first", &["--listen", "/ip6/::1/tcp/0", "--new-network", &key]);
    assert!(first.address.starts_with("/ip6/::1/tcp/"), "{}", first.address);
    publish(&first, 0..5);
    let second = Node::start(&dir, "second", &["--listen", "/ip6/::1/tcp/0", "--join", &first.invite()]);
    let nodes = [first, second];
    settle(&nodes);
    assert_eq!(nodes[1].count("all"), (5, true));
    // By itself, a node listens on both.
    let mut command = furui();
    command.args(["node", "--data", &dir.join("third"), "--http", "127.0.0.1:0"]);
    let third = Node::run(command, dir.join("log"));
    let addresses = third.status()["addresses"].to_string();
    assert!(addresses.contains("/ip4/127.0.0.1/") && addresses.contains("/ip6/::1/"), "{addresses}");
}

#[test]
fn without_a_directory_a_node_takes_the_usual_one() {
    let dir = TempDir::new();
    for (name, below) in [("XDG_DATA_HOME", "furui/node"), ("HOME", ".local/share/furui/node")] {
        let home = dir.join(name);
        let mut command = furui();
        command.env_remove("XDG_DATA_HOME").env("HOME", dir.path()).env(name, &home);
        command.args(["node", "--listen", "/ip4/127.0.0.1/tcp/0", "--http", "127.0.0.1:0"]);
        let _node = Node::run(command, dir.join("log"));
        assert!(fs::metadata(format!("{home}/{below}/identity")).is_ok(), "{name}");
    }
    let output = furui().args(["node", "--http", "127.0.0.1:0"]).env_clear().output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("say --data DIR"), "{message}");
}

/// Two machines, each a network namespace of its own, with a cable between them and nothing else. On each, two commands
/// are enough. A node with a line without addresses finds the others by mDNS, and one that does not look for them stays
/// alone.
#[cfg(target_os = "linux")]
#[test]
fn in_a_room_without_an_internet_two_commands_are_enough_on_each_machine() {
    const ROOM: &str = r#"
        set -e
        unshare -n sleep 600 & THERE=$!
        STARTED=$THERE
        trap 'kill $STARTED 2>/dev/null; wait' EXIT
        until [ "$(readlink /proc/$THERE/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep .05; done
        there() { nsenter -t $THERE -n "$@"; }
        ip link add name cable0 type veth peer name cable1 && ip link set cable1 netns $THERE
        ip link set lo up && ip address add 10.9.8.1/24 dev cable0 && ip link set cable0 up
        ip route add default dev cable0
        there ip link set lo up && there ip address add 10.9.8.2/24 dev cable1 && there ip link set cable1 up
        there ip route add default dev cable1
    "#;
    const SCRIPT: &str = r#"
        soon() { for i in $(seq 300); do "$@" 2>/dev/null && return; sleep .1; done; cat *.out >&2; exit 1; }
        unset XDG_DATA_HOME

        export HOME=$PWD/one
        "$0" node --new-network lab.key >one.out 2>&1 & STARTED="$STARTED $!"
        soon "$0" invite >line
        echo '{"url":"u:1","text":"a sieve"}' | "$0" publish - >/dev/null

        export HOME=$PWD/two
        nsenter -t $THERE -n "$0" node --join $(cat line) >two.out 2>&1 & STARTED="$STARTED $!"
        soon there "$0" search sieve >found

        cut -d, -f1,2 line >bare
        nsenter -t $THERE -n "$0" node --data three --join @bare --http 127.0.0.1:7002 >three.out 2>&1 &
        STARTED="$STARTED $!"
        nsenter -t $THERE -n "$0" node --data four --join @bare --http 127.0.0.1:7003 --no-mdns >four.out 2>&1 &
        STARTED="$STARTED $!"
        soon there "$0" search --node http://127.0.0.1:7002 sieve >found3
        sleep 1
        cat line found found3
        there "$0" search --node http://127.0.0.1:7003 sieve && echo "the fourth has found it" || true
    "#;
    let dir = TempDir::new();
    let room = |script: &str| {
        let mut command = Command::new("unshare");
        let script = format!("{ROOM}{script}");
        command.args(["-rn", "sh", "-c", &script, env!("CARGO_BIN_EXE_furui")]).current_dir(dir.path());
        command.output()
    };
    if !room("").is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no namespaces with a cable between them may be made here");
        return;
    }
    let output = room(SCRIPT).unwrap();
    let (printed, why) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{why}");
    assert!(printed.contains(",/ip4/10.9.8.1/tcp/") && !printed.contains("127.0.0.1"), "{printed}");
    assert_eq!(printed.matches("u:1").count(), 2, "{printed}{why}");
    assert!(!printed.contains("the fourth"), "{printed}");
}
