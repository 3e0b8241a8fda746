use serde_json::{Value, json};

use super::{node, python};
use crate::support::{TempDir, stdout};

/// What a client gets for these calls of tools: each answer, after the greeting and the list of tools.
fn calls(dir: &TempDir, node: &str, calls: &Value) -> Vec<Value> {
    let arguments = json!(["mcp", "--node", node]);
    let script = include_str!("mcp.py");
    let output = python(dir, &["-c", script, env!("CARGO_BIN_EXE_furui"), &arguments.to_string(), &calls.to_string()]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(answer: &Value) -> &str {
    answer["content"][0]["text"].as_str().unwrap()
}

#[test]
#[ignore = "needs the Python package mcp: cargo xtask test pipelines"]
fn a_client_of_the_model_context_protocol_searches_and_fetches() {
    let dir = TempDir::new();
    let node = node(&dir, &[]);
    let id = node.search("\"seen 7\"")[0]["id"].as_str().unwrap().to_owned();
    let first = json!([["search", { "query": "takahe", "limit": 5 }]]);
    let cursor = calls(&dir, &node.url, &first)[2]["structuredContent"]["cursor"].clone();
    let asked = json!([
        ["search", { "query": "\"seen 7\"" }],
        ["search", { "query": "takahe", "limit": 100, "cursor": cursor }],
        ["search", { "query": "nothinglikethis" }],
        ["fetch", { "id": id }],
    ]);
    let answers = calls(&dir, &node.url, &asked);
    assert_eq!(answers[0]["serverInfo"]["name"], "furui");
    let tools = answers[1]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["search", "fetch"]);
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["query"]));
    let found = &answers[2];
    assert_eq!((&found["isError"], &found["structuredContent"]["results"][0]["id"]), (&json!(false), &json!(id)));
    assert!(text(found).starts_with("Takahe 7\nhttps://example.org/7\n"), "{found}");
    assert!(text(found).contains("The takahe, seen 7 times") && text(found).contains(&id), "{found}");
    assert_eq!(answers[3]["structuredContent"]["results"].as_array().unwrap().len(), 7);
    assert!(text(&answers[4]).starts_with("No results."), "{}", answers[4]);
    let document = &answers[5]["structuredContent"];
    assert_eq!((&document["title"], &document["url"]), (&json!("Takahe 7"), &json!("https://example.org/7")));
    assert_eq!(document["text"].as_str().unwrap().matches("seen 7 times").count(), 7);
}

#[test]
#[ignore = "needs the Python package mcp: cargo xtask test pipelines"]
fn a_model_reads_why_a_tool_fails() {
    let dir = TempDir::new();
    let node = node(&dir, &[]);
    let asked = json!([
        ["search", {}],
        ["search", { "query": "a", "limit": "many" }],
        ["search", { "query": "a", "pages": 3 }],
        ["search", { "query": "a", "limit": 1001 }],
        ["search", { "query": "(!" }],
        ["fetch", { "id": "12" }],
        ["fetch", { "id": "0".repeat(40) }],
    ]);
    let answers = calls(&dir, &node.url, &asked);
    for (answer, why) in answers[2..].iter().zip([
        "missing field `query`",
        "expected u32",
        "unknown field `pages`",
        "from 1 to 1000",
        "the query has no words",
        "40 hexadecimal digits",
        "no node keeps document",
    ]) {
        assert!(answer["isError"] == true && text(answer).contains(why), "{why}: {answer}");
    }
    let nobody = calls(&dir, "http://127.0.0.1:9", &json!([["search", { "query": "a" }]]));
    assert!(nobody[2]["isError"] == true && text(&nobody[2]).contains("start `furui node`"), "{}", nobody[2]);
}

#[test]
fn a_server_ends_when_its_input_does_and_goes_on_after_what_is_no_message() {
    assert_eq!(stdout(&["mcp"], b""), b"");
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } },
    });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let unknown = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "rm" } });
    let printed = stdout(&["mcp"], format!("{hello}\n{begun}\nnot JSON\n\u{0}\n{list}\n{unknown}\n").as_bytes());
    let printed = String::from_utf8(printed).unwrap();
    let answers: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(answer(1)["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answer(2)["result"]["tools"][1]["name"], "fetch");
    assert!(answer(3)["error"]["message"].as_str().unwrap().contains("call search or fetch"), "{printed}");
}
