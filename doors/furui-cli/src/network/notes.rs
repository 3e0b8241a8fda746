//! Exit statuses and examples of the commands of the search engine.

use crate::say::notes::{DONE, ERROR, Notes};

#[rustfmt::skip]
pub const NOTES: &[Notes] = &[
    Notes {
        command: "node",
        statuses: &[
            ("0", "it was interrupted, and has closed its storage"),
            ("2", "after an error, such as a full disk or a part of the node that failed"),
            ("130", "it was interrupted twice, and did not wait"),
        ],
        examples: &[
            ("furui node --data DIR", "the first node of a network"),
            ("furui node --data DIR --listen /ip4/127.0.0.1/tcp/4001", "a node that only this machine reaches"),
            ("furui node --data DIR --watch NOTES", "publish the files of a directory, and what changes in it"),
            ("furui node --config node.toml", "a node whose options are in a file"),
            ("furui node --new-network lab.key", "the first node of a private network"),
            ("furui node --join @line", "join a private network, by the line in a file"),
        ],
    },
    Notes {
        command: "invite",
        statuses: DONE,
        examples: &[("furui invite", "the line by which others join the network of the node on this machine")],
    },
    Notes {
        command: "publish",
        statuses: DONE,
        examples: &[
            ("furui publish notes/ page.html", "publish the documents of a directory, and a page"),
            ("furui publish --base https://example.org/ site/", "publish the files of a site under its URL"),
        ],
    },
    Notes {
        command: "unpublish",
        statuses: &[("0", "something was withdrawn"), ("1", "nothing was withdrawn"), ERROR],
        examples: &[("furui unpublish https://example.org/page.html", "withdraw what was published under this URL")],
    },
    Notes {
        command: "search",
        statuses: &[("0", "some document was found"), ("1", "no document was found"), ERROR],
        examples: &[
            ("furui search bloom filter", "documents with both words"),
            ("furui search --limit 3 site:example.org filter -coffee", "three of one site, with one word and without another"),
            ("furui search --open 1 bloom filter", "show the best document with both words in the browser"),
            ("furui search --coding ringed --explain bloom filter", "send ringed filters, and print what was sent"),
        ],
    },
    Notes {
        command: "mcp",
        statuses: DONE,
        examples: &[
            ("furui mcp", "what a program for language models is told to start"),
            ("furui mcp --node http://192.0.2.1:7717 --token token", "the same, for a node on another machine"),
        ],
    },
    Notes {
        command: "block",
        statuses: &[("0", "something was blocked, or the list was printed"), ("1", "all of it was blocked before"), ERROR],
        examples: &[
            ("furui block 192.0.2.0/24 spam.example", "speak with nobody there, and show nothing of this site"),
            ("furui block", "what is blocked"),
        ],
    },
    Notes {
        command: "unblock",
        statuses: &[("0", "something was unblocked"), ("1", "nothing of it was blocked"), ERROR],
        examples: &[("furui unblock spam.example", "show documents of this site again")],
    },
    Notes {
        command: "purge",
        statuses: &[("0", "something was removed"), ("1", "nothing was found"), ERROR],
        examples: &[("furui purge spam.example", "remove what is stored of a site that is blocked")],
    },
    Notes {
        command: "trust",
        statuses: &[("0", "somebody is trusted now, or the list was printed"), ("1", "all were trusted before"), ERROR],
        examples: &[
            ("furui trust 12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN", "show what this node has published first"),
            ("furui trust", "who is trusted"),
        ],
    },
    Notes {
        command: "untrust",
        statuses: &[("0", "somebody is trusted no longer"), ("1", "nobody of them was trusted"), ERROR],
        examples: &[("furui untrust 12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN", "trust this node no longer")],
    },
    Notes {
        command: "demo",
        statuses: DONE,
        examples: &[("furui demo --nodes 3 --no-open", "three nodes, and the address of their page")],
    },
];
