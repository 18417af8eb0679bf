//! Every combination of the table once, and long random histories through it.
//!
//! The expected answers are written down a second time here, as the document puts them, and not with
//! the functions under test.

use super::*;
use crate::review_loop::phase::PHASES;

const VERDICTS: [Option<ReviewOutcome>; 4] =
    [None, Some(ReviewOutcome::Clean), Some(ReviewOutcome::Issues), Some(ReviewOutcome::Missing)];
const LEFT: [Remaining; 3] = [Remaining::Some, Remaining::None, Remaining::Unknown];

fn phases() -> Vec<Option<String>> {
    let known = PHASES.iter().map(|(name, _)| Some((*name).to_owned()));
    known.chain([None, Some("ready".into())]).collect()
}

/// The document's sentences, one after the other.
fn expected(state: &LoopState, found: StopFacts) -> LoopStep {
    let mut after = state.clone();
    let reviews = [
        ("plan-review", "post-plan-review", ReviewKind::Plan),
        ("tasks-review", "post-tasks-review", ReviewKind::Tasks),
        ("code-review", "post-code-review", ReviewKind::Code),
        ("all-code-review", "post-all-code-review", ReviewKind::AllCode),
    ];
    for (phase, post, _) in reviews {
        if found.post_review && state.next_phase.as_deref() == Some(post) {
            after.phase = Some(post.into());
            after.next_phase = Some(phase.into());
        }
    }
    let due = reviews.into_iter().find(|(phase, ..)| after.next_phase.as_deref() == Some(*phase));
    let Some((phase, post, review)) = due else {
        return LoopStep { state: after, answer: StopAnswer::Nothing };
    };
    let complete_task = if state.tdd { "complete-task-tdd" } else { "complete-task" };
    let to = match phase {
        "plan-review" => "create-tasks",
        "tasks-review" => complete_task,
        "code-review" if found.tasks == Remaining::None => "all-code-review",
        "code-review" => complete_task,
        _ => "complete",
    };
    let enter = |state: &mut LoopState| {
        state.phase = Some(phase.into());
        state.next_phase = Some(to.into());
        if to == "all-code-review" {
            state.iteration = Some(0);
            state.model = "opus".into();
            state.clean = 0;
        }
    };
    if state.max_reviews == 0 {
        enter(&mut after);
        return LoopStep { state: after, answer: StopAnswer::Skip { review, to } };
    }
    let number = state.iteration.unwrap_or_default() + 1;
    if number > state.max_reviews {
        return LoopStep { state: after, answer: StopAnswer::Limit(review) };
    }
    let round = Round { review, number, model: state.model.clone() };
    let passed = match found.verdict {
        None => return LoopStep { state: after, answer: StopAnswer::Review(round) },
        Some(ReviewOutcome::Missing) => {
            return LoopStep { state: after, answer: StopAnswer::NoVerdict(round) };
        }
        Some(verdict) => verdict == ReviewOutcome::Clean,
    };
    after.iteration = Some(number);
    after.model = if state.model == "opus" { "sonnet" } else { "opus" }.into();
    after.clean = if passed { state.clean + 1 } else { 0 };
    if after.clean >= 2 {
        enter(&mut after);
        return LoopStep { state: after, answer: StopAnswer::Advance { round, to } };
    }
    after.phase = Some(phase.into());
    after.next_phase = Some(post.into());
    LoopStep { state: after, answer: StopAnswer::Block { round, clean: passed } }
}

#[test]
fn every_combination_is_as_the_document_has_it() {
    let mut combinations = 0;
    for phase in phases() {
        for next_phase in phases() {
            for iteration in [None, Some(0), Some(1), Some(2), Some(3), Some(8), Some(u64::MAX - 1)] {
                for max_reviews in [0, 1, 3, 8] {
                    for clean in 0..3 {
                        for model in ["opus", "sonnet", "haiku"] {
                            for tdd in [false, true] {
                                let state = LoopState {
                                    max_reviews,
                                    current_task: Some("1".into()),
                                    phase: phase.clone(),
                                    iteration,
                                    next_phase: next_phase.clone(),
                                    model: model.into(),
                                    clean,
                                    tdd,
                                };
                                for post_review in [false, true] {
                                    for tasks in LEFT {
                                        for verdict in VERDICTS {
                                            let found = StopFacts { post_review, tasks, verdict };
                                            assert_eq!(
                                                transition(&state, found),
                                                expected(&state, found),
                                                "{state:?} {found:?}"
                                            );
                                            combinations += 1;
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert_eq!(combinations, 18 * 18 * 7 * 4 * 3 * 3 * 2 * 2 * 3 * 4);
}

/// A small generator, so that a history can be played again by its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn happens(&mut self, one_in: u64) -> bool {
        self.roll(one_in) == 0
    }
}

/// What an agent, a user, a reviewer and crashes do to a plan, and what must hold all the time.
struct History {
    dice: Dice,
    number: u64,
    state: LoopState,
    tasks: u64,
    /// The reviews of the running cycle, the last one last: its model, and whether it was clean.
    cycle: Vec<(String, bool)>,
    /// The post-review file of the last review is there.
    post_review: bool,
    reviews: u64,
    user_stops: u64,
}

impl History {
    fn new(number: u64) -> Self {
        let mut dice = Dice(number);
        let max_reviews = [0, 1, 2, 3, 8][usize::try_from(dice.roll(5)).unwrap()];
        let state = LoopState {
            max_reviews,
            phase: Some("new-plan".into()),
            next_phase: Some("plan-review".into()),
            iteration: Some(0),
            tdd: dice.happens(2),
            ..LoopState::default()
        };
        let tasks = 1 + dice.roll(3);
        Self { dice, number, state, tasks, cycle: Vec::new(), post_review: false, reviews: 0, user_stops: 0 }
    }

    /// The entry of a cycle as the commands write it.
    fn enter(&mut self, phase: &str, review: ReviewKind) {
        self.state = LoopState {
            phase: Some(phase.into()),
            next_phase: Some(review.phase().into()),
            iteration: Some(0),
            model: "opus".into(),
            clean: 0,
            ..self.state.clone()
        };
        self.cycle.clear();
        self.post_review = false;
    }

    fn left(&self) -> Remaining {
        let current: u64 = self.state.current_task.as_deref().map_or(0, |task| task.parse().unwrap());
        if current < self.tasks { Remaining::Some } else { Remaining::None }
    }

    /// One stop, with its review if one is due.
    fn stop(&mut self) -> StopAnswer {
        let before = self.state.clone();
        let mut found = StopFacts { post_review: self.post_review, tasks: self.left(), verdict: None };
        let mut step = transition(&before, found);
        if let StopAnswer::Review(round) = &step.answer {
            assert!(before.max_reviews > 0, "{}: a review with max_reviews 0", self.number);
            // A crash before the state is written: nothing has happened.
            if self.dice.happens(9) {
                return StopAnswer::Nothing;
            }
            let round = round.clone();
            let verdict = match self.dice.roll(5) {
                0 | 1 => ReviewOutcome::Clean,
                2 | 3 => ReviewOutcome::Issues,
                _ => ReviewOutcome::Missing,
            };
            found.verdict = Some(verdict);
            step = transition(&before, found);
            if verdict == ReviewOutcome::Missing {
                assert_eq!(step.answer, StopAnswer::NoVerdict(round), "{}", self.number);
                assert_eq!((step.state.iteration, step.state.clean), (before.iteration, before.clean));
                assert_eq!(step.state.model, before.model);
            } else {
                self.reviewed(&round, verdict == ReviewOutcome::Clean);
            }
        }
        self.check(&before, &step);
        self.state = step.state;
        step.answer
    }

    fn reviewed(&mut self, round: &Round, clean: bool) {
        self.reviews += 1;
        self.cycle.push((round.model.clone(), clean));
        self.post_review = false;
        let made = u64::try_from(self.cycle.len()).unwrap();
        assert!(made <= self.state.max_reviews, "{}: {made} reviews in a cycle", self.number);
        assert_eq!(round.number, made, "{}: rounds are counted", self.number);
        let model = if made % 2 == 1 { "opus" } else { "sonnet" };
        assert_eq!(round.model, model, "{}: opus first, then by turns", self.number);
    }

    fn check(&mut self, before: &LoopState, step: &LoopStep) {
        let number = self.number;
        assert_eq!(step.state.max_reviews, before.max_reviews, "{number}");
        assert_eq!(step.state.current_task, before.current_task, "{number}");
        assert_eq!(step.state.tdd, before.tdd, "{number}");
        let last_two_clean =
            self.cycle.len() >= 2 && self.cycle[self.cycle.len() - 2..].iter().all(|(_, clean)| *clean);
        match &step.answer {
            StopAnswer::Advance { to, .. } => {
                assert!(last_two_clean, "{number}: advanced without two clean reviews in a row");
                self.left_cycle(to, step);
            }
            StopAnswer::Skip { to, .. } => {
                assert_eq!(before.max_reviews, 0, "{number}");
                assert!(self.cycle.is_empty(), "{number}");
                self.left_cycle(to, step);
            }
            StopAnswer::Block { clean, .. } => {
                assert!(!last_two_clean, "{number}: held after two clean reviews");
                assert_eq!(Some(*clean), self.cycle.last().map(|(_, clean)| *clean));
                let post = step.state.next_phase.as_deref().and_then(ReviewKind::from_post_phase);
                assert_eq!(post.map(ReviewKind::phase), step.state.phase.as_deref(), "{number}");
            }
            StopAnswer::Limit(_) => {
                assert_eq!(u64::try_from(self.cycle.len()).unwrap(), before.max_reviews, "{number}");
                assert_eq!(step.state.iteration, before.iteration, "{number}");
            }
            StopAnswer::Review(_) => panic!("{number}: a verdict was there"),
            StopAnswer::Nothing | StopAnswer::NoVerdict(_) => {}
        }
    }

    /// The user's turn at a boundary.
    fn left_cycle(&mut self, to: &str, step: &LoopStep) {
        self.user_stops += 1;
        self.cycle.clear();
        self.post_review = false;
        if to == "all-code-review" {
            let LoopState { iteration, model, clean, .. } = &step.state;
            assert_eq!((*iteration, model.as_str(), *clean), (Some(0), "opus", 0), "{}", self.number);
        }
    }

    /// What the agent does in its turn; `false`: the plan is complete.
    fn work(&mut self) -> bool {
        match self.state.next_phase.clone().as_deref() {
            Some("complete") | None => return false,
            Some("create-tasks") => self.enter("create-tasks", ReviewKind::Tasks),
            Some(task @ ("complete-task" | "complete-task-tdd")) => {
                assert_eq!(task.ends_with("-tdd"), self.state.tdd, "{}", self.number);
                let done: u64 = self.state.current_task.as_deref().map_or(0, |task| task.parse().unwrap());
                assert!(done < self.tasks, "{}: a task that is not there", self.number);
                self.state.current_task = Some((done + 1).to_string());
                self.enter(task, ReviewKind::Code);
            }
            Some(post) if ReviewKind::from_post_phase(post).is_some() => match self.dice.roll(4) {
                // It forgets the file, the state, or both.
                0 => {}
                1 => self.post_review = true,
                2 => {
                    let review = ReviewKind::from_post_phase(post).unwrap();
                    self.state.phase = Some(post.into());
                    self.state.next_phase = Some(review.phase().into());
                }
                _ => {
                    let review = ReviewKind::from_post_phase(post).unwrap();
                    self.post_review = true;
                    self.state.phase = Some(post.into());
                    self.state.next_phase = Some(review.phase().into());
                }
            },
            Some(_) => {}
        }
        true
    }

    fn play(mut self) -> (u64, u64, bool) {
        for _ in 0..400 {
            match self.stop() {
                // The user starts another cycle, or skips the review.
                StopAnswer::Limit(review) => {
                    if self.dice.happens(2) {
                        self.state.iteration = Some(0);
                        self.state.model = "opus".into();
                        self.state.clean = 0;
                        self.cycle.clear();
                        self.post_review = false;
                    } else {
                        let to = next_phase(review, self.state.tdd, self.left());
                        self.state.next_phase = Some(to.into());
                        if let Some(next) = ReviewKind::from_phase(to) {
                            self.enter(review.phase(), next);
                        }
                    }
                }
                _ => {
                    if !self.work() {
                        return (self.reviews, self.user_stops, true);
                    }
                }
            }
        }
        (self.reviews, self.user_stops, false)
    }
}

#[test]
fn a_hundred_thousand_histories_keep_the_promises() {
    let (mut reviews, mut user_stops, mut complete) = (0, 0, 0);
    for number in 0..100_000 {
        let (more_reviews, more_stops, done) = History::new(number).play();
        reviews += more_reviews;
        user_stops += more_stops;
        complete += u64::from(done);
    }
    // Histories in which nothing happens would show nothing.
    assert!(reviews > 1_000_000, "{reviews} reviews");
    assert!(user_stops > 200_000, "{user_stops} boundaries");
    assert!(complete > 99_000, "{complete} plans completed");
}
