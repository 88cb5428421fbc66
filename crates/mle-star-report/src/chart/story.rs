//! The story of a run: the staircase of its best score over time, and below it, on the same axis, the solutions with
//! lines from what each was made from.
//!
//! Shapes carry what colours carry: discs were kept, rings were not, crosses failed. The classes are those of
//! `picture.css`, which gives them their colours.

use super::FAR;
use super::scale::{range, time_step, with};
use crate::figures::{at_step, brief, round_step, round_ticks, rounded, with_interval};
use crate::markup::escaped;
use crate::sanitize::{escape, first_line, shortened, width};
use crate::views::steps::node_id;
use crate::views::{Fate, Solution};

/// The widths, in pixels, at which a page shows the picture as large as it is drawn.
pub const WIDTHS: [f64; 3] = [1060.0, 720.0, 400.0];
/// Names of lanes stand above their lanes if the picture is narrower.
const ROOMY: f64 = 700.0;
/// The height of a line of text.
const LINE: f64 = 16.0;
/// The distance of two rows of solutions, and the least distance of two solutions in a row.
const ROW: f64 = 20.0;
/// The most rows of a lane; more solutions at one time overlap.
const MAX_ROWS: usize = 9;
/// Moments beyond this are not drawn.
const MAX_POSITION: f64 = 1e12;

/// A run's solutions over time.
#[derive(Clone, Debug, Default)]
pub struct Story<'a> {
    /// The description, for screen readers.
    pub description: String,
    /// What the scores are.
    pub metric: String,
    /// Whether larger scores are better.
    pub is_up: bool,
    /// The last moment, in seconds since the start of the run.
    pub end: f64,
    /// The solutions, in the order in which they ended.
    pub solutions: &'a [Solution],
    /// The lanes from the top, each with its name and the indices of its solutions.
    pub lanes: Vec<(String, Vec<usize>)>,
    /// Scores to compare with.
    pub references: Vec<(&'static str, f64)>,
}

impl Solution {
    /// The difference with two digits, if it says something: `+0.0021`.
    fn short_gain(&self) -> String {
        let gain =
            self.rise.or(self.gain).filter(|gain| *gain > 0.0 || *gain < 0.0 && self.against.is_some());
        let sign = |gain| if gain < 0.0 { "−" } else { "+" };
        gain.map_or_else(String::new, |gain| format!("{}{}", sign(gain), rounded(gain.abs())))
    }

    /// The solution in a line.
    fn line(&self) -> String {
        let score = self.score.map(|score| format!(": {}", with_interval(score, self.interval)));
        escape(&format!("{}{}, {}", self.name, score.unwrap_or_default(), self.outcome))
    }
}

impl Fate {
    const ALL: [Self; 5] = [Self::Answer, Self::Kept, Self::Dropped, Self::Failed, Self::Open];

    /// Its class, its words, and its shape.
    fn drawn(self) -> (&'static str, &'static str, Shape) {
        match self {
            Self::Answer => ("answer", "the answer", Shape::Path("M-8 0L0-8L8 0L0 8Z")),
            Self::Kept => ("kept", "kept", Shape::Disc(5)),
            Self::Dropped => ("dropped", "not kept", Shape::Disc(4)),
            Self::Failed => ("failed", "failed", Shape::Path("M-4-4L4 4M4-4L-4 4")),
            Self::Open => ("open", "not ended", Shape::Path("M-5-5H5V5H-5Z")),
        }
    }
}

/// The shape of a mark: a disc by its radius, or a path around the point that it is moved to.
#[derive(Clone, Copy)]
enum Shape {
    Disc(u8),
    Path(&'static str),
}

/// A rectangle that text must not cover: left, top, right, bottom.
type Area = [f64; 4];

/// The end of a text that stands at a point.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Left,
    Right,
}

/// A picture in the making.
struct Canvas<'a> {
    story: &'a Story<'a>,
    width: f64,
    /// The sides of both panels.
    sides: [f64; 2],
    /// Top and bottom of the upper panel.
    panel: [f64; 2],
    /// Top and bottom of the part of it that scores are drawn in.
    field: [f64; 2],
    /// The scores at the bottom and the top of that part.
    scores: [f64; 2],
    /// The distance of scores at the axis.
    step: f64,
    /// The points of the solutions in the lower panel.
    points: Vec<[f64; 2]>,
    taken: Vec<Area>,
    svg: String,
}

impl Story<'_> {
    /// The picture at this width; `None` if nothing was scored. Solutions are links. In a picture that stands `alone`, with
    /// this style sheet, they have a tooltip only.
    pub fn draw(&self, width: f64, alone: Option<&str>) -> Option<String> {
        let scores = self.range()?;
        let is_roomy = width > ROOMY;
        let step = round_step((scores[1] - scores[0]) / 5.0);
        let figures = scores.map(|score| at_step(score, step));
        let names = self.lanes.iter().map(|(name, _)| name.as_str()).filter(|_| is_roomy);
        let margin = figures.iter().map(String::as_str).chain(names).map(text_width).fold(0.0, f64::max);
        let sides = [margin + 10.0, width - 10.0];
        let (taken, points, svg) = (Vec::new(), Vec::new(), String::new());
        let [panel, field] = [[0.0; 2]; 2];
        let mut canvas = Canvas { story: self, width, sides, panel, field, scores, step, points, taken, svg };
        let top = canvas.legend() + 12.0;
        canvas.axis(top, if is_roomy { 310.0 } else { 250.0 });
        let bottom = canvas.lanes(is_roomy);
        canvas.times(bottom);
        canvas.stairs();
        canvas.references();
        canvas.descent();
        canvas.solutions(alone.is_none());
        canvas.labels(if is_roomy { 40 } else { 24 });
        let (height, about, svg) = (bottom + 8.0, escaped(&self.description), canvas.svg);
        let attributes = format!("class=\"chart story\" role=\"group\" aria-label=\"{about}\"");
        Some(match alone {
            None => format!("<svg {attributes} viewBox=\"0 0 {width} {height:.0}\">{svg}</svg>"),
            Some(style) => format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes} viewBox=\"-16 -8 {} {:.0}\">\
                 <style>{style}</style><rect class=\"paper\" x=\"-16\" y=\"-8\" width=\"100%\" height=\"100%\"/>{svg}</svg>",
                width + 32.0,
                height + 20.0,
            ),
        })
    }

    /// The number of scores that are too bad to be drawn at their places.
    pub fn outside(&self) -> usize {
        let Some([low, high]) = self.range() else { return 0 };
        let scores = self.solutions.iter().filter(|one| !one.is_reference).filter_map(|one| one.score);
        scores.filter(|score| !(low..=high).contains(score)).count()
    }

    /// The ends of the vertical axis. The staircase decides: bad scores must not flatten it, so they stand at the edge if they
    /// are too far off.
    fn range(&self) -> Option<[f64; 2]> {
        let scores = |of: fn(&Solution) -> bool| -> Vec<f64> {
            let scores = self.solutions.iter().filter(|one| of(one)).filter_map(|one| one.score);
            scores.filter(|score| score.abs() <= FAR).collect()
        };
        let stairs = scores(|one| one.improved && !one.is_reference);
        let own = scores(|one| !one.is_reference);
        let all = scores(|_| true);
        let core = [(3, &stairs), (3, &own), (1, &all)].into_iter().find(|(least, of)| of.len() >= *least)?.1;
        let best = scores(|one| one.improved).pop();
        let (low, high) = with(range(core.iter().copied())?, best);
        // Better scores are inside, and some that are worse.
        let reach = 1.5 * (high - low);
        let is_near = |score: &f64| if self.is_up { *score >= low - reach } else { *score <= high + reach };
        let references = self.references.iter().map(|one| one.1);
        let (low, high) = with((low, high), all.iter().copied().chain(references).filter(is_near));
        Some([low, high])
    }

    /// The length of the horizontal axis. A journal may be forged: a length that is no number is none.
    fn seconds(&self) -> f64 {
        if self.end.is_nan() { 1.0 } else { self.end.clamp(1.0, MAX_POSITION) }
    }
}

impl Canvas<'_> {
    fn x(&self, seconds: f64) -> f64 {
        let ([left, right], end) = (self.sides, self.story.seconds());
        let seconds = if seconds.is_nan() { 0.0 } else { seconds.clamp(0.0, end) };
        left + 12.0 + (right - left - 20.0) * (seconds / end)
    }

    /// The height of a score, at the edge if it is outside.
    fn y(&self, score: f64) -> f64 {
        let ([low, high], [top, bottom]) = (self.scores, self.field);
        bottom - (bottom - top) * ((score.clamp(low, high) - low) / (high - low))
    }

    fn is_inside(&self, score: f64) -> bool {
        (self.scores[0]..=self.scores[1]).contains(&score)
    }

    /// A score with more digits than those at the axis.
    fn precise(&self, score: f64) -> String {
        at_step(score, self.step / 100.0)
    }

    fn path(&mut self, class: &str, course: &str) {
        self.svg += &format!("<path class=\"{class}\" d=\"{course}\"/>");
    }

    fn mark(&mut self, class: &str, shape: Shape, [x, y]: [f64; 2]) {
        self.svg += &match shape {
            Shape::Disc(r) => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r}\"/>"),
            Shape::Path(d) => {
                format!("<path class=\"{class}\" d=\"{d}\" transform=\"translate({x:.1} {y:.1})\"/>")
            }
        };
    }

    fn text(&mut self, class: &str, [x, y]: [f64; 2], words: &str) {
        self.svg += &format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(words));
    }

    /// A text that ends at the right side, and that others do not cover.
    fn text_at_side(&mut self, class: &str, y: f64, words: &str) {
        let at = [self.sides[1], y];
        self.taken.push(area(at, words, End::Right));
        self.text(class, at, words);
    }

    /// What the scores are, and the shapes with their meanings; the height that they take.
    fn legend(&mut self) -> f64 {
        let story = self.story;
        let better = if story.is_up { "higher" } else { "lower" };
        let title = format!("validated {}, {better} is better", shortened(&story.metric, 24));
        let (mut x, mut y) = (text_width(&title) + 8.0, LINE);
        self.text("name", [0.0, y], &title);
        for fate in Fate::ALL.into_iter().filter(|fate| story.solutions.iter().any(|one| one.fate == *fate)) {
            let (class, words, shape) = fate.drawn();
            let width = 34.0 + text_width(words);
            if x + width > self.width {
                (x, y) = (0.0, y + LINE + 2.0);
            }
            self.svg += &format!("<g class=\"{class}\">");
            self.mark("mark", shape, [x + 8.0, y - 4.5]);
            self.svg.push_str("</g>");
            self.text("name", [x + 21.0, y], words);
            x += width;
        }
        y
    }

    /// The upper panel with its vertical axis.
    fn axis(&mut self, top: f64, height: f64) {
        let ([left, right], [low, high], story) = (self.sides, self.scores, self.story);
        let bottom = top + height;
        let improved = story.solutions.iter().filter(|one| one.improved).count();
        // The better side has room for labels, the other one for what is outside.
        let for_labels = LINE * count(improved.clamp(2, 6));
        let for_others =
            10.0 + if story.references.iter().all(|one| self.is_inside(one.1)) { 0.0 } else { LINE };
        let [above, below] = if story.is_up { [for_labels, for_others] } else { [for_others, for_labels] };
        (self.panel, self.field) = ([top, bottom], [top + above, bottom - below]);
        for (score, words) in round_ticks(low, high, 5.0) {
            let y = self.y(score);
            self.path("grid", &format!("M{left:.1} {y:.1}H{right:.1}"));
            self.text("figure", [left - 8.0, y + 4.5], &words);
        }
        self.path("edge", &format!("M{left:.1} {bottom:.1}H{right:.1}"));
    }

    /// Scores to compare with: lines, or words at the edge for those outside.
    fn references(&mut self) {
        let ([left, right], [top, bottom]) = (self.sides, self.panel);
        let mut outside = Vec::new();
        for (name, score) in &self.story.references {
            let words = format!("{name} {}", self.precise(*score));
            if !self.is_inside(*score) {
                outside.push(words);
                continue;
            }
            let y = self.y(*score);
            self.path("reference", &format!("M{left:.1} {y:.1}H{right:.1}"));
            // Two that are close stand on both sides.
            let is_free = self.is_free(&area([right, y - 5.0], &words, End::Right));
            self.text_at_side("reference end", if is_free { y - 5.0 } else { y + LINE - 2.0 }, &words);
        }
        if !outside.is_empty() {
            let (arrow, y) = if self.story.is_up { ("↓", bottom - 5.0) } else { ("↑", top + 10.0) };
            self.text_at_side("reference end", y, &format!("{arrow} {}", outside.join(", ")));
        }
    }

    /// The lanes of the lower panel, and the points of the solutions; the bottom of the last.
    fn lanes(&mut self, is_roomy: bool) -> f64 {
        let ([left, right], solutions) = (self.sides, self.story.solutions);
        self.points = solutions.iter().map(|one| [self.x(one.ended), 0.0]).collect();
        let mut y = self.panel[1] + 1.6 * LINE;
        for (name, own) in &self.story.lanes {
            let first = y + 14.0 + if is_roomy { 0.0 } else { LINE };
            let mut ends = [f64::NEG_INFINITY; MAX_ROWS];
            let is_kept = |index: &usize| solutions[*index].fate <= Fate::Kept;
            let has_kept = own.iter().any(is_kept);
            for index in own {
                let [x, height] = &mut self.points[*index];
                let lowest = usize::from(has_kept && !is_kept(index));
                let row = (lowest..MAX_ROWS).find(|row| ends[*row] + ROW <= *x).unwrap_or(MAX_ROWS - 1);
                (ends[row], *height) = (*x, first + ROW * count(row));
            }
            let rows = ends.iter().rposition(|end| end.is_finite()).unwrap_or_default();
            let at = if is_roomy { [left - 8.0, first + 4.5] } else { [left + 2.0, y + 13.0] };
            y = first + ROW * count(rows) + 14.0;
            self.path("grid", &format!("M{left:.1} {y:.1}H{right:.1}"));
            self.text(if is_roomy { "figure" } else { "lane" }, at, name);
        }
        y
    }

    /// Round times between the panels, with lines down to the bottom of the lower one.
    fn times(&mut self, bottom: f64) {
        let ([left, right], top, end) = (self.sides, self.panel[1], self.story.seconds());
        let step = time_step(end, (right - left) / 70.0);
        for time in (0..40).map(|number| count(number) * step).take_while(|time| *time <= end) {
            let x = self.x(time);
            self.path("grid", &format!("M{x:.1} {top:.1}V{bottom:.1}"));
            self.text("time", [x, top + LINE + 2.0], &brief(time));
        }
    }

    /// The best score so far.
    fn stairs(&mut self) {
        let improved = self.story.solutions.iter().filter(|one| one.improved);
        let mut steps: Vec<(f64, f64)> =
            improved.filter_map(|one| Some((self.x(one.ended), one.score?))).collect();
        let Some((_, best)) = steps.last().copied() else { return };
        steps.push((self.x(self.story.end), best));
        let mut course = String::new();
        for step in steps.windows(2) {
            let &[(x, score), (next, then)] = step else { continue };
            let (y, to) = (self.y(score), self.y(then));
            if self.is_inside(score) {
                course += &format!("M{x:.1} {y:.1}H{next:.1}");
                self.taken.push([x, y - 1.0, next, y + 1.0]);
            }
            if self.is_inside(then) {
                course += &format!("M{next:.1} {y:.1}V{to:.1}");
                self.taken.push([next - 1.0, y.min(to), next + 1.0, y.max(to)]);
            }
        }
        self.path("stairs", &course);
        self.text_at_side(
            "gain end",
            self.y(best) + if self.story.is_up { -8.0 } else { 18.0 },
            &self.precise(best),
        );
    }

    /// The lines from what solutions were made from, those to the answer on top.
    fn descent(&mut self) {
        let solutions = &self.story.solutions;
        let to_each = |(one, to): (&Solution, usize)| {
            let on_way = |from: usize| one.led && solutions[from].led;
            one.from.iter().map(|from| (on_way(*from), *from, to)).collect::<Vec<_>>()
        };
        let mut lines: Vec<(bool, usize, usize)> = solutions.iter().zip(0..).flat_map(to_each).collect();
        lines.sort_by_key(|(on_way, ..)| *on_way);
        for (on_way, from, to) in lines {
            let class = match solutions[to].fate {
                _ if on_way => "from way",
                Fate::Answer | Fate::Kept => "from",
                _ => "from vain",
            };
            let (start, end) = (self.points[from], self.points[to]);
            self.path(class, &self.curve(start, end));
            // Thin lines may be covered.
            let along = (0..24).filter(|_| on_way).map(|number| between(start, end, count(number) / 23.0));
            self.taken.extend(along.map(|[x, y]| [x - 2.0, y - 2.0, x + 2.0, y + 2.0]));
        }
    }

    /// A line to the right that leaves its row at once, so that it passes through no other solution of the row.
    fn curve(&self, [x, y]: [f64; 2], [to_x, to_y]: [f64; 2]) -> String {
        let is_between = |point: &[f64; 2]| point[1] == y && x < point[0] && point[0] < to_x;
        if y == to_y && self.points.iter().any(is_between) {
            let (middle, above) = (f64::midpoint(x, to_x), y - 22.0);
            return format!("M{x:.1} {y:.1}Q{middle:.1} {above:.1} {to_x:.1} {y:.1}");
        }
        let middle = f64::midpoint(y, to_y);
        format!("M{x:.1} {y:.1}C{x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}")
    }

    /// The solutions, each in both panels.
    fn solutions(&mut self, are_links: bool) {
        for (index, one) in self.story.solutions.iter().enumerate() {
            let [x, y] = self.points[index];
            let (class, _, shape) = one.fate.drawn();
            let link = format!(" href=\"#{}\"", node_id(&one.place));
            let (tag, link) = if are_links { ("a", link.as_str()) } else { ("g", "") };
            let line = escaped(&one.line());
            self.svg += &format!("<{tag} class=\"spot {class}\"{link}><title>{line}</title>");
            if let Some(score) = one.score.filter(|score| score.abs() <= FAR) {
                let at = self.y(score);
                let (class, shape) = match self.is_inside(score) {
                    true if one.improved => ("score best", Shape::Disc(5)),
                    true => ("score", Shape::Disc(3)),
                    false if self.story.is_up => ("score", Shape::Path("M-4-2H4L0 5Z")),
                    false => ("score", Shape::Path("M-4 2H4L0-5Z")),
                };
                self.path("guide", &format!("M{x:.1} {at:.1}V{y:.1}"));
                self.mark("hit", Shape::Disc(8), [x, at]);
                self.mark(class, shape, [x, at]);
                self.taken.push([x - 5.0, at - 5.0, x + 5.0, at + 5.0]);
            }
            self.mark("hit", Shape::Disc(10), [x, y]);
            self.mark("mark", shape, [x, y]);
            self.svg += &format!("</{tag}>");
            // No label stands above or below another solution.
            self.taken.push([x - 9.0, y - 11.5, x + 9.0, y + 11.5]);
        }
    }

    /// What was done and gained, at as many solutions as there is room for: at the staircase, and beside other solutions.
    fn labels(&mut self, most: usize) {
        let solutions = &self.story.solutions;
        let mut told = vec![false; solutions.len()];
        let stairs: Vec<usize> = (0..told.len()).filter(|index| solutions[*index].improved).collect();
        // From the last one on: labels stand to the right of their steps and above those of later ones.
        for (number, index) in stairs.iter().copied().enumerate().rev() {
            let (one, x) = (&solutions[index], self.points[index][0]);
            if let Some(score) = one.score.filter(|score| !one.is_reference && self.is_inside(*score)) {
                let before =
                    number.checked_sub(1).map_or(self.sides[0], |before| self.points[stairs[before]][0]);
                told[index] = self.label_stair(one, most, [x, self.y(score)], before);
            }
        }
        let mut kept: Vec<usize> =
            (0..told.len()).filter(|index| solutions[*index].fate <= Fate::Kept).collect();
        kept.sort_by_key(|index| !solutions[*index].led);
        for index in kept.into_iter().filter(|index| !told[*index]) {
            let [x, y] = self.points[index];
            let places = [(12.0, 4.5), (12.0, -8.0), (12.0, 17.0)];
            let both = |(dx, dy)| [(End::Left, [x + dx, y + dy]), (End::Right, [x - dx, y + dy])];
            let bounds = [self.sides[0], self.panel[1] + 1.6 * LINE, self.sides[1] + 8.0, f64::MAX];
            places
                .into_iter()
                .flat_map(both)
                .any(|(end, at)| self.label(&solutions[index], most, at, end, &bounds));
        }
    }

    /// Puts a label on the better side of the staircase, with a line if it is far; `false` if there is no room.
    fn label_stair(&mut self, one: &Solution, most: usize, [x, y]: [f64; 2], before: f64) -> bool {
        let up = if self.story.is_up { -1.0 } else { 1.0 };
        let bounds = [self.sides[0], self.panel[0] - 4.0, self.sides[1] + 8.0, self.panel[1] - 2.0];
        // To the left, if that does not cover the step before; what covers it stands as far away as it can.
        let is_short = x - text_width(&words_of(one, most)) - 10.0 > before;
        let [first, second] = if is_short { [End::Right, End::Left] } else { [End::Left, End::Right] };
        let near = (0..14_u8).map(|row| (first, row));
        for (end, row) in near.chain((0..14_u8).rev().map(|row| (second, row))) {
            let base = y + up * (10.0 + f64::from(row) * LINE) + if up > 0.0 { 8.0 } else { 0.0 };
            let (from, to) = (y + up * 6.0, base - 4.0);
            let leader = [x - 2.0, from.min(to), x + 2.0, from.max(to)];
            let at = [if end == End::Right { x - 5.0 } else { x + 5.0 }, base];
            if (row == 0 || self.is_free(&leader)) && self.label(one, most, at, end, &bounds) {
                if row > 0 {
                    self.path("leader", &format!("M{x:.1} {from:.1}V{to:.1}"));
                    self.taken.push(leader);
                }
                return true;
            }
        }
        false
    }

    /// Puts a label of at most so many columns at a point within bounds; `false` if there is no room.
    fn label(&mut self, one: &Solution, most: usize, at: [f64; 2], end: End, bounds: &Area) -> bool {
        let area = area(at, &words_of(one, most), end);
        let is_inside =
            area[0] >= bounds[0] && area[1] >= bounds[1] && area[2] <= bounds[2] && area[3] <= bounds[3];
        if one.is_reference || !is_inside || !self.is_free(&area) {
            return false;
        }
        self.taken.push(area);
        let (class, [x, y]) = (if end == End::Right { "label end" } else { "label" }, at);
        let (gain, did) = (escaped(&one.short_gain()), escaped(&clipped(&one.did, most)));
        self.svg += &format!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"><tspan class=\"gain\">{gain}</tspan> {did}</text>"
        );
        true
    }

    fn is_free(&self, [left, top, right, bottom]: &Area) -> bool {
        let is_apart =
            |one: &Area| one[2] <= *left || *right <= one[0] || one[3] <= *top || *bottom <= one[1];
        self.taken.iter().all(is_apart)
    }
}

/// A point of the line between two solutions, from 0 at its start to 1 at its end.
fn between([x, y]: [f64; 2], [to_x, to_y]: [f64; 2], at: f64) -> [f64; 2] {
    let rest = 1.0 - at;
    let middle = 3.0 * at * rest * f64::midpoint(y, to_y);
    [x + (to_x - x) * at * at * (3.0 - 2.0 * at), y * rest.powi(3) + middle + to_y * at.powi(3)]
}

/// The words of a label.
fn words_of(one: &Solution, most: usize) -> String {
    format!("{} {}", one.short_gain(), clipped(&one.did, most))
}

/// A text of at most so many columns.
fn clipped(words: &str, most: usize) -> String {
    if width(words) <= most { words.to_owned() } else { first_line(words, most - 1) }
}

/// The area of a text that begins or ends at a point.
fn area([x, y]: [f64; 2], words: &str, end: End) -> Area {
    let width = text_width(words);
    let left = if end == End::Right { x - width } else { x };
    [left - 3.0, y - 12.0, left + width + 3.0, y + 4.0]
}

/// The width of a text, rather too large than too small: fonts differ.
fn text_width(words: &str) -> f64 {
    7.3 * count(width(words))
}

#[expect(clippy::cast_precision_loss, reason = "a small count")]
fn count(number: usize) -> f64 {
    number as f64
}
