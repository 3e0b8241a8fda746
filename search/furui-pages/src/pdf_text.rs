use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};

/// The maximum size of the text of a page, in bytes. Chosen: a book of the finest print has a tenth of it.
const MAX_PAGE_TEXT: usize = 256 << 10;
/// The gap after a letter from which a new word begins, in sizes of the font. Chosen: spaces of a line that is set
/// tightly have 0.17, and letters that are moved apart for looks 0.1.
const WORD: f64 = 0.13;
/// The ratio of the sizes from which letters are larger than those of the text. Chosen.
const LARGER: f64 = 1.15;

/// Takes the letters of a page of a PDF by place and size, and puts them together as lines.
#[derive(Default)]
pub(crate) struct PdfText {
    lines: Vec<Line>,
    bytes: usize,
    /// Where the last letter ended: along its line, and across lines.
    end: (f64, f64),
    /// True if the next letter begins a string of the file; within one, the file itself has the spaces.
    is_start: bool,
}

#[derive(Default)]
struct Line {
    text: String,
    /// The size of the largest upright letters; 0 if there are none.
    size: f64,
}

impl PdfText {
    /// The first lines in the largest letters; empty if these are not larger than most.
    pub(crate) fn title(&self) -> String {
        let is_line = |line: &&Line| line.text.trim().chars().count() > 3;
        let largest = self.lines.iter().filter(is_line).map(|line| line.size).fold(0.0, f64::max);
        let is_large = |line: &&Line| line.size * LARGER >= largest;
        let bytes = |lines: &[&Line]| lines.iter().map(|line| line.text.len()).sum::<usize>();
        let (large, small): (Vec<&Line>, Vec<&Line>) = self.lines.iter().partition(is_large);
        if largest == 0.0 || bytes(&large) > bytes(&small) {
            return String::new();
        }
        let title = self.lines.iter().skip_while(|line| !is_large(line)).take_while(is_large);
        let title: Vec<&str> = title.map(|line| line.text.trim()).collect();
        title.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The text: words that go on in the next line are put together, and so are characters of languages that have no
    /// spaces.
    pub(crate) fn finish(self) -> String {
        let mut text = String::with_capacity(self.bytes + self.lines.len());
        for line in self.lines {
            let line = line.text.trim();
            let (Some(first), Some(last)) = (line.chars().next(), text.chars().next_back().or(Some(' '))) else {
                continue;
            };
            let mut before = text.chars().rev().skip(1);
            let is_hyphen = matches!(last, '-' | '\u{ad}' | '\u{2010}');
            if is_hyphen && first.is_lowercase() && before.next().is_some_and(char::is_alphabetic) {
                text.pop();
            } else if !(text.is_empty() || is_unspaced(last) && is_unspaced(first)) {
                text.push('\n');
            }
            text += line;
        }
        text
    }

    fn push(&mut self, letters: &str, size: f64) {
        let Some(line) = self.lines.last_mut() else { return };
        let before = line.text.len();
        for letter in letters.chars() {
            match ligature(letter) {
                Some(letters) => line.text += letters,
                // What has no place in a text, such as what stands for a letter that is not known, is a space, too.
                None if letter.is_whitespace() || letter.is_control() || letter == '\u{fffd}' => {
                    if !line.text.ends_with(' ') {
                        line.text.push(' ');
                    }
                }
                None => line.text.push(letter),
            }
        }
        if !letters.trim().is_empty() {
            line.size = line.size.max(size);
        }
        self.bytes += line.text.len() - before;
    }
}

impl OutputDev for PdfText {
    fn begin_page(&mut self, _: u32, _: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        _: f64,
        font_size: f64,
        letters: &str,
    ) -> Result<(), OutputError> {
        if self.bytes > MAX_PAGE_TEXT {
            let why = format!("more than {MAX_PAGE_TEXT} bytes of text");
            return Err(OutputError::IoError(std::io::Error::other(why)));
        }
        // The place of the letter as its line goes, which may be turned.
        let (scale, height) = (place.m11.hypot(place.m12), place.m21.hypot(place.m22) * font_size.abs());
        let (x, y) = (place.m31, place.m32);
        let along = (x * place.m11 + y * place.m12) / scale;
        let across = (y * place.m11 - x * place.m12) / scale;
        let em = scale * font_size.abs();
        if self.lines.is_empty() {
            self.lines.push(Line::default());
        } else if self.is_start {
            let (end, line) = self.end;
            let moved = (across - line).abs();
            if moved > height * 1.5 || along < end && moved > height * 0.5 {
                self.lines.push(Line::default());
            } else if along > end + em * WORD {
                self.push(" ", 0.0);
            }
        }
        let is_upright = place.m12.abs() <= place.m11.abs() / 8.0;
        self.push(letters, if is_upright { height } else { 0.0 });
        self.is_start = false;
        self.end = (along + width * em, across);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.is_start = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

/// The letters of a ligature.
fn ligature(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        _ => return None,
    })
}

/// True for Chinese characters and Japanese letters, between which a line ends anywhere.
fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3001}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ff00}'..='\u{ffef}')
}
