//! Sets of rows and their origins, which decide whether one set contains or overlaps another.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::site::Site;

/// How keys of divisions begin that compare numbers which were drawn at once with bounds; the place of the draw follows.
pub(crate) const DRAWN: &str = "drawn ";

/// A set of rows, by its number in [`Rows`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RowsId(u32);

/// A division of rows, by its number in [`Rows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DivisionId(u32);

impl RowsId {
    /// Rows of which nothing is known.
    pub(crate) const UNKNOWN: Self = Self(0);

    /// Whether something is known of the rows.
    pub(crate) fn is_known(self) -> bool {
        self != Self::UNKNOWN
    }
}

/// Where rows come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// Nothing is known.
    Unknown,
    /// A table that was read or made, by the text that tells it from others.
    Table(Rc<str>),
    /// One side of a division.
    Part { of: RowsId, division: DivisionId, side: u8 },
    /// Some of the rows.
    Some { of: RowsId, site: Site },
    /// The rows, some of them more than once, or with rows that were generated from them.
    Repeated { of: RowsId, site: Site },
    /// Windows of consecutive rows, each of which shares most of its rows with the next one.
    Windows { of: RowsId, site: Site },
    /// All rows, by a part of them that was chosen by their target.
    Around { of: RowsId, part: RowsId },
    /// Several sets one after the other.
    Joined { parts: Rc<[RowsId]>, site: Site },
}

/// How rows were divided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Division {
    /// The kind of division.
    pub(crate) kind: DivisionKind,
    /// Divisions of the same rows with the same key are the same.
    pub(crate) key: Rc<str>,
}

/// The kinds of divisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum DivisionKind {
    /// Two parts, drawn at random.
    Random,
    /// Some rows, drawn at random from a table that keeps them.
    Sample,
    /// Two parts, drawn at random again and again.
    Draws,
    /// Folds of shuffled rows.
    ShuffledFolds,
    /// Folds of rows as they stand.
    Folds,
    /// Whole groups on either side.
    Groups,
    /// Later rows on the scored side.
    Time,
    /// A condition.
    Condition,
    /// The first rows, up to a position.
    Position,
    /// One value of a column, as in a loop over all of them.
    Value,
}

impl DivisionKind {
    /// Whether rows are divided by chance.
    pub(crate) fn is_random(self) -> bool {
        matches!(self, Self::Random | Self::Sample | Self::Draws | Self::ShuffledFolds)
    }
}

/// All sets of rows of a script.
#[derive(Debug)]
pub(crate) struct Rows {
    origins: Vec<Origin>,
    numbers: FxHashMap<Origin, RowsId>,
    divisions: Vec<(Division, Site)>,
    division_numbers: FxHashMap<(RowsId, Division), DivisionId>,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            origins: vec![Origin::Unknown],
            numbers: FxHashMap::default(),
            divisions: Vec::new(),
            division_numbers: FxHashMap::default(),
        }
    }
}

impl Rows {
    /// The rows of a table.
    pub(crate) fn table(&mut self, name: &str) -> RowsId {
        self.number(Origin::Table(name.into()))
    }

    /// Some of the rows.
    pub(crate) fn some(&mut self, of: RowsId, site: Site) -> RowsId {
        if of.is_known() { self.number(Origin::Some { of, site }) } else { of }
    }

    /// The rows, some of them repeated.
    pub(crate) fn repeated(&mut self, of: RowsId, site: Site) -> RowsId {
        if of.is_known() { self.number(Origin::Repeated { of, site }) } else { of }
    }

    /// Windows of consecutive rows that overlap.
    pub(crate) fn windows(&mut self, of: RowsId, site: Site) -> RowsId {
        self.number(Origin::Windows { of, site })
    }

    /// Where windows were taken that overlap, if rows are such windows or some of them.
    pub(crate) fn windows_of(&self, rows: RowsId) -> Option<Site> {
        self.ancestors(rows).find_map(|above| match self.origin(above) {
            Origin::Windows { site, .. } => Some(*site),
            _ => None,
        })
    }

    /// All rows, by a part of them that was chosen by their target.
    pub(crate) fn around(&mut self, of: RowsId, part: RowsId) -> RowsId {
        if of.is_known() { self.number(Origin::Around { of, part }) } else { of }
    }

    /// Whether two sets were chosen by a column that has different values for them, so that no row is in both.
    pub(crate) fn apart(&self, one: RowsId, other: RowsId) -> bool {
        let Some(((of, first, side), (all, second, other))) = self.part_of(one).zip(self.part_of(other))
        else {
            return false;
        };
        let key = |division| self.division_of(division).0.key.split_once("==");
        let by_values = || match (key(first), key(second)) {
            (Some((column, value)), Some((same, another))) => {
                side == 0 && other == 0 && column == same && value != another
            }
            _ => false,
        };
        of == all && if first == second { side != other } else { by_values() }
    }

    /// Sets one after the other.
    pub(crate) fn joined(&mut self, parts: &[RowsId], site: Site) -> RowsId {
        match parts {
            [] => RowsId::UNKNOWN,
            [only] => *only,
            _ if parts.iter().all(|part| !part.is_known()) => RowsId::UNKNOWN,
            _ => self.number(Origin::Joined { parts: parts.into(), site }),
        }
    }

    /// One side of a division: 0 is for fitting, 1 is scored.
    pub(crate) fn part(&mut self, of: RowsId, division: DivisionId, side: u8) -> RowsId {
        if of.is_known() { self.number(Origin::Part { of, division, side }) } else { of }
    }

    /// The division of rows with this key.
    pub(crate) fn division(&mut self, of: RowsId, kind: DivisionKind, key: &str, site: Site) -> DivisionId {
        let division = Division { kind, key: key.into() };
        if let Some(known) = self.division_numbers.get(&(of, division.clone())) {
            return *known;
        }
        let number = DivisionId(u32::try_from(self.divisions.len()).unwrap_or(u32::MAX));
        self.divisions.push((division.clone(), site));
        self.division_numbers.insert((of, division), number);
        number
    }

    /// Where rows come from.
    pub(crate) fn origin(&self, rows: RowsId) -> &Origin {
        self.origins.get(rows.0 as usize).unwrap_or(&Origin::Unknown)
    }

    /// How and where rows were divided.
    pub(crate) fn division_of(&self, division: DivisionId) -> &(Division, Site) {
        &self.divisions[division.0 as usize]
    }

    /// If rows are one side of a division: what was divided, how, and which side they are.
    pub(crate) fn part_of(&self, rows: RowsId) -> Option<(RowsId, DivisionId, u8)> {
        match self.origin(rows) {
            Origin::Part { of, division, side } => Some((*of, *division, *side)),
            _ => None,
        }
    }

    /// The rows themselves and those that they were taken from, as far as they are sides of divisions.
    pub(crate) fn parts(&self, rows: RowsId) -> impl Iterator<Item = (RowsId, DivisionId, u8)> {
        self.ancestors(rows).filter_map(|above| self.part_of(above))
    }

    /// Whether all rows of `inner` (or rows that they were made from) are certainly among those of `outer`.
    pub(crate) fn contains(&self, outer: RowsId, inner: RowsId) -> bool {
        if !outer.is_known() || !inner.is_known() {
            return false;
        }
        if self.ancestors(inner).any(|above| above == outer) {
            return true;
        }
        match self.origin(outer) {
            Origin::Joined { parts, .. } => parts.iter().any(|part| self.contains(*part, inner)),
            Origin::Repeated { of, .. } => self.contains(*of, inner),
            // If nothing but the part is looked at, the others were only left out.
            Origin::Around { of, part } => self.contains(*of, inner) && !self.contains(*part, inner),
            _ => false,
        }
    }

    /// Whether some row is certainly in both.
    pub(crate) fn overlap(&self, left: RowsId, right: RowsId) -> bool {
        self.contains(left, right) || self.contains(right, left) || self.parts_overlap(left, right)
    }

    /// Whether rows were kept apart from others, although they are among them: as the scored side of a division, or as
    /// one of two sides of a condition.
    pub(crate) fn kept_apart(&self, inner: RowsId, outer: RowsId) -> bool {
        let below = self.ancestors(inner).take_while(|above| *above != outer);
        let is_side = |(of, division, side): (RowsId, DivisionId, u8)| match self.division_of(division).0.kind
        {
            DivisionKind::Condition => {
                self.numbers.contains_key(&Origin::Part { of, division, side: 1 - side })
            }
            DivisionKind::Value => false,
            _ => side == 1,
        };
        !self.contains(inner, outer) && below.filter_map(|above| self.part_of(above)).any(is_side)
    }

    /// Whether a part of joined rows certainly has some row of the others.
    fn parts_overlap(&self, left: RowsId, right: RowsId) -> bool {
        match self.origin(left) {
            Origin::Joined { parts, .. } => {
                parts.iter().any(|part| self.contains(*part, right) || self.contains(right, *part))
            }
            _ => false,
        }
    }

    /// The set that both were taken from, where their ways part.
    pub(crate) fn common(&self, left: RowsId, right: RowsId) -> Option<RowsId> {
        let above: Vec<_> = self.ancestors(left).collect();
        self.ancestors(right).find(|rows| rows.is_known() && above.contains(rows))
    }

    /// Where rows were repeated, in this set or in one that it was taken from.
    pub(crate) fn repetition(&self, rows: RowsId) -> Option<Site> {
        self.ancestors(rows).find_map(|above| self.repeated_in(above, 8))
    }

    /// Where the ways of two sets part by two different divisions of the same rows.
    pub(crate) fn different_divisions(
        &self,
        left: RowsId,
        right: RowsId,
    ) -> Option<(DivisionId, DivisionId)> {
        let common = self.common(left, right)?;
        let (left, right) = (self.division_from(common, left)?, self.division_from(common, right)?);
        (left != right).then_some((left, right))
    }

    /// The place of the second of two divisions that are both made by chance, and not by the same draw.
    pub(crate) fn drawn_apart(&self, one: DivisionId, other: DivisionId) -> Option<Site> {
        let ((left, _), (right, site)) = (self.division_of(one), self.division_of(other));
        let draw = |key: &str| Some(key.strip_prefix(DRAWN)?.split(' ').next()?.to_owned());
        let at_once = draw(&left.key).is_some_and(|one| draw(&right.key) == Some(one));
        (left.kind.is_random() && right.kind.is_random() && !at_once).then_some(*site)
    }

    /// The place where rows were put together that were apart before: validation rows joined to training rows, or a sample
    /// that stays in the table it was drawn from.
    pub(crate) fn brought_together(&self, fit: RowsId, scored: RowsId) -> Option<Site> {
        let joined = self.ancestors(fit).find_map(|above| match self.origin(above) {
            Origin::Joined { site, .. } => Some((above, *site)),
            _ => None,
        });
        if let Some((above, site)) = joined
            && !self.ancestors(scored).any(|other| other == above)
        {
            return Some(site);
        }
        let (_, division, _) = self.part_of(scored).filter(|(of, ..)| *of == fit)?;
        let (division, site) = self.division_of(division);
        (division.kind == DivisionKind::Sample).then_some(*site)
    }

    /// The rows that were held out when these rows, or those that they were taken from, were taken for a fit.
    pub(crate) fn held_out(&self, fit: RowsId) -> Option<RowsId> {
        let fits = self.parts(fit).filter(|(.., side)| *side == 0);
        let mut others = fits.map(|(of, division, _)| Origin::Part { of, division, side: 1 });
        others.find_map(|other| self.numbers.get(&other).copied())
    }

    /// The division that separates the two sets.
    pub(crate) fn separation(&self, left: RowsId, right: RowsId) -> Option<DivisionId> {
        self.division_from(self.common(left, right)?, right)
    }

    /// The division of the whole by which rows were taken from it.
    fn division_from(&self, whole: RowsId, rows: RowsId) -> Option<DivisionId> {
        self.parts(rows).find(|(of, ..)| *of == whole).map(|(_, division, _)| division)
    }

    /// The set itself, and those that it was taken from.
    pub(crate) fn ancestors(&self, rows: RowsId) -> impl Iterator<Item = RowsId> {
        std::iter::successors(rows.is_known().then_some(rows), |rows| match self.origin(*rows) {
            Origin::Part { of, .. }
            | Origin::Some { of, .. }
            | Origin::Repeated { of, .. }
            | Origin::Windows { of, .. } => of.is_known().then_some(*of),
            _ => None,
        })
    }

    fn repeated_in(&self, rows: RowsId, depth: usize) -> Option<Site> {
        match self.origin(rows) {
            Origin::Repeated { site, .. } => Some(*site),
            Origin::Joined { parts, .. } if depth > 0 => parts
                .iter()
                .find_map(|part| self.ancestors(*part).find_map(|rows| self.repeated_in(rows, depth - 1))),
            _ => None,
        }
    }

    fn number(&mut self, origin: Origin) -> RowsId {
        if let Some(known) = self.numbers.get(&origin) {
            return *known;
        }
        let number = RowsId(u32::try_from(self.origins.len()).unwrap_or_default());
        self.origins.push(origin.clone());
        self.numbers.insert(origin, number);
        number
    }
}
