//! The widths of the letters of a PDF's composite fonts.
//!
//! A font states them in two forms: `first [w w …]` and `first last w`. The library that reads the text takes the
//! second one for other numbers, and then sees gaps within words.

use pdf_extract::{Document, Object};

/// The maximum number of letters whose widths are stated in the second form. The field for a letter has 16 bits.
const MAX_LETTERS: i64 = 1 << 16;

/// Brings the widths of all fonts into the first form. What is damaged is left out.
pub(crate) fn unify(objects: &mut Document) {
    let fonts = objects.objects.iter().filter_map(|(id, object)| {
        let font = object.as_dict().ok()?;
        let is_composite = font.get(b"Subtype").and_then(Object::as_name).ok()?.starts_with(b"CIDFont");
        let widths = font.get_deref(b"W", objects).and_then(Object::as_array).ok()?;
        is_composite.then(|| (*id, unified(widths)))
    });
    for (id, widths) in fonts.collect::<Vec<_>>() {
        if let Some(font) = objects.objects.get_mut(&id).and_then(|object| object.as_dict_mut().ok()) {
            font.set("W", widths);
        }
    }
}

fn unified(mut widths: &[Object]) -> Vec<Object> {
    let (mut unified, mut left) = (Vec::new(), MAX_LETTERS);
    loop {
        match widths {
            [Object::Integer(first), Object::Array(list), rest @ ..] => {
                unified.extend([Object::Integer(*first), Object::Array(list.clone())]);
                widths = rest;
            }
            [Object::Integer(first), Object::Integer(last), width, rest @ ..] => {
                let count = last.saturating_add(1).saturating_sub(*first).clamp(0, left);
                left -= count;
                let list = vec![width.clone(); count as usize];
                unified.extend([Object::Integer(*first), Object::Array(list)]);
                widths = rest;
            }
            _ => return unified,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_become_one() {
        let list = |widths: &[i64]| Object::Array(widths.iter().map(|&width| width.into()).collect());
        let widths = [3.into(), 5.into(), 300.into(), 7.into(), list(&[1, 2]), 9.into(), 8.into(), 4.into(), 1.into()];
        let expected = [3.into(), list(&[300, 300, 300]), 7.into(), list(&[1, 2]), 9.into(), list(&[])];
        assert_eq!(unified(&widths), expected);
        let most = [0.into(), i64::MAX.into(), 1.into(), 0.into(), 9.into(), 1.into()];
        let lengths = unified(&most).iter().filter_map(|list| list.as_array().ok()).map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths, [MAX_LETTERS as usize, 0]);
    }
}
