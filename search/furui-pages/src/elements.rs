//! The effect of HTML elements on the text between their tags.

/// Elements whose content is not part of the page's text, or is the same on every page of a site.
const SKIPPED: [&[u8]; 11] = [
    b"canvas",
    b"iframe",
    b"nav",
    b"noframes",
    b"noscript",
    b"object",
    b"script",
    b"style",
    b"svg",
    b"template",
    b"textarea",
];
/// Elements whose content starts on a new line and is followed by a new line.
const BLOCKS: [&[u8]; 62] = [
    b"address",
    b"article",
    b"aside",
    b"blockquote",
    b"body",
    b"br",
    b"button",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"dir",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"head",
    b"header",
    b"hgroup",
    b"hr",
    b"html",
    b"img",
    b"input",
    b"legend",
    b"li",
    b"listing",
    b"main",
    b"menu",
    b"ol",
    b"optgroup",
    b"option",
    b"p",
    b"plaintext",
    b"pre",
    b"search",
    b"section",
    b"select",
    b"summary",
    b"table",
    b"tbody",
    b"td",
    b"tfoot",
    b"th",
    b"thead",
    b"title",
    b"tr",
    b"ul",
    b"video",
    b"audio",
    b"xmp",
    b"nav",
];

/// True if the content of the element is not part of the page's text.
pub(crate) fn is_skipped(tag: &[u8]) -> bool {
    SKIPPED.contains(&tag)
}

/// True if the element's content starts on a new line and is followed by a new line.
pub(crate) fn is_block(tag: &[u8]) -> bool {
    BLOCKS.contains(&tag)
}
