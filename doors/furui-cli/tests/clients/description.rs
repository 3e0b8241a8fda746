use furui_node::ureq::{self, Agent, Body, http};
use serde_json::Value;

use super::node;
use crate::support::TempDir;

/// Sends the request that an operation of the description has as its example.
fn ask(agent: &Agent, url: &str, method: &str, path: &str, operation: &Value) -> http::Response<Body> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let required = parameters.filter(|parameter| parameter["required"] == true);
    let query = required.map(|parameter| {
        let example = parameter["example"].as_str().unwrap_or("0123456789abcdef0123456789abcdef01234567");
        (parameter["name"].as_str().unwrap(), example)
    });
    let url = format!("{url}{path}");
    if method == "get" {
        return agent.get(url).query_pairs(query).call().unwrap();
    }
    let content = operation["requestBody"]["content"].as_object();
    let body = content.and_then(|content| content.values().next()?["example"].as_str()).unwrap_or_default();
    agent.post(url).query_pairs(query).send(body).unwrap()
}

#[test]
fn each_example_of_the_description_is_answered_as_it_says() {
    let dir = TempDir::new();
    let node = node(&dir, &[]);
    let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
    let text = ureq::get(format!("{}/openapi.json", node.url)).call().unwrap().body_mut().read_to_string().unwrap();
    let description: Value = serde_json::from_str(&text).unwrap();
    for (path, operations) in description["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let answer = ask(&agent, &node.url, method, path, operation);
            let status = answer.status().as_u16();
            let described = &operation["responses"][status.to_string()];
            let described = match described["$ref"].as_str() {
                Some(place) => description.pointer(&place[1..]).unwrap(),
                None => described,
            };
            // The example of an id is of no document, and the node is in no private network.
            let expected = if ["/document", "/invite"].contains(&path.as_str()) { 404 } else { 200 };
            assert_eq!(status, expected, "{method} {path}");
            let content = answer.headers()["content-type"].to_str().unwrap().split(';').next().unwrap();
            assert!(described["content"].get(content).is_some(), "{method} {path}: {content}, not {described}");
        }
    }
    // The message for a path that does not exist names all paths for programs.
    let nothing = agent.get(format!("{}/nothing", node.url)).call().unwrap().body_mut().read_to_string().unwrap();
    let named = nothing.split([' ', ',', '?', '"']).filter(|word| word.starts_with('/') && word.len() > 1);
    let missing: Vec<&str> = named.filter(|path| description["paths"].get(path).is_none()).collect();
    assert!(missing.is_empty() && description["paths"].get("/search").is_some(), "{missing:?}");
}
