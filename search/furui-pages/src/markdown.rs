use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::front_matter::FrontMatter;
use crate::lines::Lines;
use crate::{Page, html};

/// Extracts title and text of a Markdown document. Markup is left out; text and code are kept. The title comes from the
/// metadata at the beginning, which static sites use (in YAML between `---`, in TOML between `+++`), or else from the
/// first heading. The metadata are not part of the text.
pub fn markdown(source: &str) -> Page {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let front_matter = FrontMatter::split(source);
    let (mut text, mut title) = (Lines::default(), Lines::default());
    let (mut in_title, mut has_title, mut in_code) = (false, false, false);
    // The tags of a block of HTML arrive line by line, and are parsed when the block ends.
    let mut block = String::new();
    for event in Parser::new_ext(front_matter.rest, options) {
        match event {
            Event::Start(tag) => {
                match tag {
                    Tag::Heading { .. } => in_title = !std::mem::replace(&mut has_title, true),
                    Tag::CodeBlock(_) => in_code = true,
                    _ => {}
                }
                if !is_inline(&tag.to_end()) {
                    text.end_line();
                }
            }
            Event::End(tag) => {
                match tag {
                    TagEnd::Heading(_) => in_title = false,
                    TagEnd::CodeBlock => in_code = false,
                    TagEnd::HtmlBlock => text.push(&html(std::mem::take(&mut block).as_bytes(), None).text, true),
                    _ => {}
                }
                if !is_inline(&tag) {
                    text.end_line();
                }
            }
            Event::Text(words) | Event::Code(words) => {
                text.push(&words, in_code);
                if in_title {
                    title.push(&words, false);
                }
            }
            Event::Html(part) => block.push_str(&part),
            Event::SoftBreak => {
                text.push(" ", false);
                title.push(" ", false);
            }
            Event::HardBreak | Event::Rule => text.end_line(),
            _ => {}
        }
    }
    let heading = title.finish();
    Page { title: front_matter.title.unwrap_or(heading), text: text.finish(), ..Page::default() }
}

fn is_inline(tag: &TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_are_left_out() {
        let read = markdown(
            "---\nlayout: no\n---\n\nBefore *the* fi**rst**\nheading.\n\n# A `sieve` &amp; more\n\n- one\n- [two](http://x)\n\n\
             | a | b |\n|---|---|\n| c | d |\n\n```rust\nlet x;\n  y\n```\n<div>in <b>a</b> block</div>\n\n## Not this\n",
        );
        assert_eq!(read.title, "A sieve & more");
        assert_eq!(
            read.text,
            "Before the first heading.\nA sieve & more\none\ntwo\na\nb\nc\nd\nlet x;\ny\nin a block\nNot this"
        );
    }

    #[test]
    fn metadata_may_have_the_title() {
        let title = |metadata: &str| markdown(&format!("{metadata}\n# Heading\n\ntext\n")).title;
        assert_eq!(title("---\nlayout: post\ntitle: Seen before: a sieve\n---\n"), "Seen before: a sieve");
        assert_eq!(title("---\ntitle:   \"A \\\"sieve\\\"\"\n---\n"), "A \"sieve\"");
        assert_eq!(title("---\ntitle: 'It''s one'\r\n---\n"), "It's one");
        assert_eq!(title("+++\ntitle = \"In TOML\"\n+++\n"), "In TOML");
        for none in [
            "---\ntitle: >\n  folded\n---\n",
            "---\nsubtitle: x\ntitles: y\n---\n",
            "---\ntitle:\n---\n",
            "---\ntitle: \"\n---\n",
        ] {
            assert_eq!(title(none), "Heading", "{none}");
        }
        assert_eq!(markdown("---\ntitle: no text\n---\nwords\n").text, "words");
    }

    proptest! {
        #[test]
        fn any_text_is_read(parts in prop::collection::vec(prop::sample::select(&[
            "# ", "\n", "\n\n", "- ", "> ", "*", "**", "`", "```\n", "[a](b)", "![", "]", "<div>", "</div>", "|", "---\n", "word", " ",
        ][..]), 0..60)) {
            markdown(&parts.concat());
        }
    }
}
