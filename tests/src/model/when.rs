//! Which requests a rule is for.

use std::fmt;
use std::sync::Arc;

use super::Request;

type Condition = Arc<dyn Fn(&Request) -> bool + Send + Sync>;

/// A conjunction of conditions on a request. Without any it matches everything.
#[derive(Clone, Default)]
pub struct When {
    conditions: Vec<Condition>,
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "When({} conditions)", self.conditions.len())
    }
}

/// Matches everything until conditions are added: `when().system("plan").turn(0)`.
#[must_use]
pub fn when() -> When {
    When::default()
}

impl When {
    /// The system prompt contains this text.
    #[must_use]
    pub fn system(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.matching(move |request| request.system().contains(&text))
    }

    /// The prompt, without the reminders that the CLI adds, contains this text.
    #[must_use]
    pub fn prompt(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.matching(move |request| request.prompt().contains(&text))
    }

    /// The conversation holds exactly this many assistant messages.
    #[must_use]
    pub fn turn(self, turn: usize) -> Self {
        self.matching(move |request| request.turn() == turn)
    }

    /// The conversation holds exactly this many tool results.
    #[must_use]
    pub fn tool_results(self, count: usize) -> Self {
        self.matching(move |request| request.tool_results().len() == count)
    }

    /// The latest tool result contains this text.
    #[must_use]
    pub fn last_result(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.matching(move |request| {
            request
                .tool_results()
                .last()
                .is_some_and(|result| result.text.contains(&text))
        })
    }

    /// It is this request of its session, counted from 0 with retries included.
    #[must_use]
    pub fn nth(self, nth: usize) -> Self {
        self.matching(move |request| request.nth == nth)
    }

    /// This model is asked for.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        let model = model.into();
        self.matching(move |request| request.model() == model)
    }

    /// Any other condition.
    #[must_use]
    pub fn matching(
        mut self,
        condition: impl Fn(&Request) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.conditions.push(Arc::new(condition));
        self
    }

    pub(super) fn holds(&self, request: &Request) -> bool {
        self.conditions.iter().all(|condition| condition(request))
    }
}
