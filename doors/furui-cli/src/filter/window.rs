//! The time of filters with a window.

use furui::filter::AnyFilter;

use crate::say::windows::now;

/// Sets the time of a filter with a window of time to that of the system's clock. Does nothing to other filters.
pub fn tell_time(filter: &mut AnyFilter) {
    if let AnyFilter::Window(filter) = filter {
        filter.tell_time(now());
    }
}
