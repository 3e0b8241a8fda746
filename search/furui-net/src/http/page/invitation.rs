use axum::http::header;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use qrcode::{Color, EcLevel, QrCode};

use super::layout::{HTML, Layout};
use crate::net::Invitation;

/// The width of the empty border of a QR code, in modules, by its standard.
const QUIET: usize = 4;

/// Renders the page with an invitation, as text and as a QR code.
pub(in crate::http) fn invitation(invitation: &Invitation) -> Response {
    let line = invitation.to_string();
    let page = Layout::new("Invitation").page(html! {
        h1 { "Invite others into the network " (invitation.network.name()) }
        p { "Send them this line by a way that nobody else reads. Whoever has it is in the network: finds all documents,
            and publishes." }
        p { code.long { (line) } }
        p { "On their machine they say " code { "furui node --join LINE" } " with the line in the place of LINE." }
        @if let Some(code) = code(&line) { (code) }
        p { a href="/status" { "To the status" } }
    });
    ([(header::CONTENT_TYPE, HTML)], page).into_response()
}

/// Renders a text as a QR code; `None` if it is too long for one.
fn code(text: &str) -> Option<Markup> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let (modules, width) = (code.to_colors(), code.width());
    let dark = (0..modules.len()).filter(|&at| modules[at] == Color::Dark);
    // Each dark module is a square of the path.
    let path: String = dark.map(|at| format!("M{},{}h1v1h-1z", at % width + QUIET, at / width + QUIET)).collect();
    let side = width + 2 * QUIET;
    Some(html! {
        svg.code viewBox={ "0 0 " (side) " " (side) } role="img" aria-label="The same line as a QR code"
            shape-rendering="crispEdges" {
            rect width=(side) height=(side) fill="#fff" {}
            path d=(path) fill="#000" {}
        }
    })
}
