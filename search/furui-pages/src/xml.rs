use std::collections::HashMap;
use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

/// A tag of an XML file with its attributes, or the text up to the next tag.
pub(crate) enum Part {
    Start(String, HashMap<String, String>),
    Text(String),
    End(String),
}

/// Calls `take` with the parts of an XML file, without the prefixes of names.
pub(crate) fn parts(bytes: &[u8], mut take: impl FnMut(Part)) {
    let text = String::from_utf8_lossy(bytes);
    let local = |name: &[u8]| {
        let name = String::from_utf8_lossy(name).into_owned();
        name.rsplit_once(':').map(|(_, name)| name.to_owned()).unwrap_or(name)
    };
    let (mut tag, mut attribute, mut attributes) = (String::new(), String::new(), HashMap::new());
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<Infallible> {
        match event {
            CallbackEvent::OpenStartTag { name } => tag = local(name),
            CallbackEvent::AttributeName { name } => attribute = local(name),
            CallbackEvent::AttributeValue { value } => {
                attributes.insert(std::mem::take(&mut attribute), String::from_utf8_lossy(value).into_owned());
            }
            CallbackEvent::CloseStartTag { .. } => {
                take(Part::Start(std::mem::take(&mut tag), std::mem::take(&mut attributes)));
            }
            CallbackEvent::EndTag { name } => {
                attributes.clear();
                take(Part::End(local(name)));
            }
            CallbackEvent::String { value } => take(Part::Text(String::from_utf8_lossy(value).into_owned())),
            _ => {}
        }
        None
    });
    let Ok(()) = Tokenizer::new_with_emitter(&*text, emitter).finish();
}
