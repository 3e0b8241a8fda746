use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use furui_search::{Request, Response, SAMPLE, Survey, limits};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::Instant;

use super::{Node, call, word_key};

/// How long a survey is valid. The sizes of lists that a node knows are valid for the same time.
const LIFE: Duration = Duration::from_secs(60);
/// The time to wait for the keepers of the sample.
const PATIENCE: Duration = Duration::from_secs(2);

/// The survey of an earlier search.
#[derive(Default)]
pub(super) struct LastSurvey(Mutex<Option<(Instant, Survey)>>);

impl LastSurvey {
    fn get(&self) -> Option<Survey> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(at, _)| at.elapsed() < LIFE).map(|(_, survey)| survey)
    }

    fn set(&self, survey: Survey) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), survey));
    }

    /// Forgets the survey, because lists or keepers have changed.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Node {
    /// The approximate number of documents of all nodes, and their mean length, computed from what the nodes that keep
    /// the [`SAMPLE`] of all documents report.
    pub async fn survey(&self) -> Survey {
        let inner = &*self.0;
        if let Some(survey) = inner.survey.get() {
            return survey;
        }
        let keepers = inner.net.closest(&word_key(SAMPLE), limits::REPLICAS).await;
        let request = Request::Size { words: vec![SAMPLE.to_owned()] };
        let mut answers: FuturesUnordered<_> =
            keepers.iter().map(|keeper| call(&inner.net, keeper, &request)).collect();
        let mut best = None;
        let until = Instant::now() + PATIENCE;
        while let Ok(Some(answer)) = tokio::time::timeout_at(until, answers.next()).await {
            let Some(Response::Sizes(sizes)) = answer else { continue };
            let Some(size) = sizes.first() else { continue };
            // The largest sample that is whole or, if none is whole, the largest of all.
            best = best.max(Some((size.whole, size.ids, size.mean_length)));
            if size.whole && size.ids > 0 {
                break;
            }
        }
        let survey = best.map_or_else(Survey::default, |(_, ids, mean_length)| Survey::of_sample(ids, mean_length));
        if best.is_some() {
            inner.survey.set(survey);
        }
        survey
    }
}
