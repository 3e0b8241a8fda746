use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use furui_search::{Peer, Request, Response, Survey, Surveyed};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use crate::net::{Net, Prefix};
use crate::node::{Node, call};

/// The key whose nearest nodes are asked for their estimates. All nodes ask the same ones, so that they get the same
/// survey.
const KEY: &[u8] = b"survey";
/// The time for which a survey (the estimated number of documents and their mean length) is reused. It is also the time
/// for which a node reuses the sizes of lists. The value is a choice, not a measurement.
const LIFE: Duration = Duration::from_secs(60);
/// The time to wait for the nodes that are asked for their estimates. The value is a choice, not a measurement.
const SURVEY_TIMEOUT: Duration = Duration::from_secs(2);
/// The time to wait for the remaining nodes of a survey after three quarters have answered. With fewer answers, a few
/// hostile nodes that answer first could be half of them. The value is a choice, not a measurement.
const HURRY: Duration = Duration::from_millis(300);

/// The survey of an earlier search, with the time until which it is reused.
#[derive(Default)]
pub(in crate::node) struct LastSurvey(Mutex<Option<(Instant, Survey)>>);

impl LastSurvey {
    fn get(&self) -> Option<(Instant, Survey)> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, survey: Survey) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now() + LIFE, survey));
    }

    /// Discards the survey, because lists, or the nodes that keep them, have changed.
    pub(in crate::node) fn expire(&self) {
        if let Some((until, _)) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            *until = Instant::now();
        }
    }
}

impl Node {
    /// Estimates the number of documents in the network, and their mean length. Both are medians of the estimates by
    /// the nodes nearest to a fixed key, which they derive from the records that they hold. One node per address prefix
    /// is asked.
    pub async fn survey(&self) -> Survey {
        let inner = &*self.0;
        let last = inner.survey.get();
        if let Some((_, survey)) = last.filter(|(until, _)| *until > Instant::now()) {
            return survey;
        }
        let nearest = inner.net.closest(KEY, Net::MOST_CLOSEST).await;
        let mut taken = HashSet::new();
        let mut is_new = |node: &Peer| {
            let prefix = Prefix::of_peer(node);
            !prefix.is_counted() || taken.insert(prefix)
        };
        let asked: Vec<Peer> = nearest.into_iter().filter(|node| is_new(node)).collect();
        let request = Request::Survey;
        let mut answers: FuturesUnordered<_> = asked.iter().map(|node| call(&inner.net, node, &request)).collect();
        let mut estimates: Vec<Surveyed> = Vec::new();
        let mut until = Instant::now() + SURVEY_TIMEOUT;
        while let Ok(Some(answer)) = tokio::time::timeout_at(until, answers.next()).await {
            let Some(Response::Surveyed(estimate)) = answer else { continue };
            estimates.push(estimate);
            if 4 * estimates.len() >= 3 * asked.len() {
                until = until.min(Instant::now() + HURRY);
            }
        }
        let survey = Survey::median(&estimates);
        if let Some(survey) = survey {
            inner.survey.set(survey);
        }
        survey.or(last.map(|(_, survey)| survey)).unwrap_or_default()
    }
}
