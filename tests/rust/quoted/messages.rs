//! Messages with quoted text: what they are made of, as choices that shrink to none of the slips.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::formats::{Format, Written, everything};
use super::openings::{BARE, has_strings};
use super::pieces::{
    AROUND, BARE_NAMES, BINDINGS, CLOSES, CONFUSED, GAPS, INSERTS, INSIDE, PREFIXES, QUOTED_INSIDE, QUOTED_NAMES,
    QUOTES, SLIPS, TAG_NAMES, UNKNOWN_NAMES,
};

/// How a call is opened.
#[derive(Clone, Debug)]
enum Opening {
    /// As the encoder does, with another name and with edits.
    Written { which: Index, name: Option<Index>, edits: Vec<(Index, Edit)> },
    /// In one of the listed ways.
    Listed(Index),
}

#[derive(Clone, Copy, Debug)]
enum Edit {
    Insert(&'static str),
    /// Of one separator or bracket.
    Replace(&'static str),
    Double,
    /// Inserts what opens a call.
    Open,
}

/// What is done with quotes of the kind that is around P.
#[derive(Clone, Copy, Debug)]
enum Inner {
    Other,
    LeftOut,
    Escaped,
}

/// A part of P.
#[derive(Clone, Copy, Debug)]
enum Part {
    Text(&'static str),
    /// A call of `rm` in this format, or in the one that is tried, after what ends a call there.
    Call {
        format: Option<Index>,
        which: Index,
        ends: bool,
        inner: Inner,
    },
}

/// What a message is made of. The first of all choices is none of the slips.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    setting: Index,
    truncated: Option<bool>,
    before: &'static str,
    opening: Opening,
    slips: Vec<(&'static str, &'static str)>,
    binding: Option<&'static str>,
    pub gap: &'static str,
    pub prefix: &'static str,
    pub quotes: Option<Index>,
    around: (&'static str, &'static str),
    parts: Vec<Part>,
    after: Option<(Vec<(&'static str, &'static str)>, &'static str)>,
}

/// A message, and where its P is; the slips, by which failures are sorted.
#[derive(Debug)]
pub(crate) struct Case {
    pub setting: usize,
    pub message: String,
    pub quoted: Range<usize>,
    pub truncated: Option<bool>,
    pub slips: Vec<String>,
}

/// Usually the first, otherwise one of the others.
fn seldom(usual: &'static str, others: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop_oneof![5 => Just(usual), 1 => select(others)]
}

fn slips(most: usize) -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let between = prop_oneof![4 => Just(" "), 1 => Just(""), 1 => Just("\n"), 1 => Just(", ")];
    prop::collection::vec((select(SLIPS), between), 0..most)
}

fn opening() -> impl Strategy<Value = Opening> {
    let edit = prop_oneof![
        5 => select(INSERTS).prop_map(Edit::Insert),
        4 => select(CONFUSED).prop_map(Edit::Replace),
        1 => Just(Edit::Double),
        1 => Just(Edit::Open),
    ];
    let edits = prop::collection::vec((any::<Index>(), edit), 0..3);
    let name = prop::option::weighted(0.3, any::<Index>());
    prop_oneof![
        2 => (any::<Index>(), name, edits).prop_map(|(which, name, edits)| Opening::Written { which, name, edits }),
        1 => any::<Index>().prop_map(Opening::Listed),
    ]
}

const INNER: &[Inner] = &[Inner::Other, Inner::LeftOut, Inner::Escaped];

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let call = |format| {
        let part = (format, any::<Index>(), any::<bool>(), select(INNER));
        part.prop_map(|(format, which, ends, inner)| Part::Call { format, which, ends, inner })
    };
    let part = prop_oneof![
        4 => call(Just(None).boxed()),
        2 => call(any::<Index>().prop_map(Some).boxed()),
        4 => select(INSIDE).prop_map(Part::Text),
        2 => select(QUOTED_INSIDE).prop_map(Part::Text),
    ];
    prop::collection::vec(part, 1..5)
}

pub(crate) fn choices() -> impl Strategy<Value = Choices> {
    let before = select(&["", "I look. ", "Text:\n", "\n", "Say \"x\".\n"][..]);
    let truncated = select(&[Some(false), None, Some(true)][..]);
    let slip = prop_oneof![2 => Just(Vec::new()), 1 => slips(3)];
    let binding = prop_oneof![3 => Just(None), 2 => select(BINDINGS).prop_map(Some)];
    let quotes = prop_oneof![1 => Just(None), 2 => any::<Index>().prop_map(Some)];
    let quote = (seldom("", GAPS), seldom("", PREFIXES), quotes, select(AROUND));
    let after = prop::option::of((slips(2), select(CLOSES)));
    let all = (any::<Index>(), truncated, before, opening(), slip, binding, quote, parts(), after);
    all.prop_map(
        |(setting, truncated, before, opening, slips, binding, (gap, prefix, quotes, around), parts, after)| Choices {
            setting,
            truncated,
            before,
            opening,
            slips,
            binding,
            gap,
            prefix,
            quotes,
            around,
            parts,
            after,
        },
    )
}

/// Between letters a quote would be an apostrophe, and what follows `<` the tag of something else.
fn runs_together(before: &str, after: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric();
    (before.ends_with(['\'', '<']) && after.starts_with(word))
        || (before.ends_with(word) && after.starts_with(['\'', '"']))
}

fn joined(slips: &[(&'static str, &'static str)]) -> String {
    slips.iter().fold(String::new(), |mut out, (slip, between)| {
        if runs_together(&out, slip) {
            out.push(' ');
        }
        out + slip + between
    })
}

/// Makes one change outside of quotes, at a place that is counted from the end, so that earlier places stay where they are.
fn edited(head: &mut String, at: usize, edit: Edit, slips: &mut Vec<String>) {
    let found =
        head[at..].chars().next().filter(|c| "{}[](),:=\n ".contains(*c)).map_or("", |c| &head[at..at + c.len_utf8()]);
    let (old, new) = match edit {
        // A quote with a backslash ends at the next one with a backslash.
        // A marker with one is neutralised.
        Edit::Insert("\\") if head[..at].ends_with('<') => return,
        Edit::Insert("\\") if head[at..].is_empty() || head[at..].starts_with(['"', '\'']) => return,
        Edit::Insert(text) => (0, text.to_owned()),
        Edit::Replace(_) | Edit::Double | Edit::Open if found.is_empty() => return,
        Edit::Replace(text) => (found.len(), text.to_owned()),
        Edit::Double | Edit::Open => (found.len(), found.repeat(2)),
    };
    slips.push(format!("{:?} → {new:?}", &head[at..at + old]));
    let space = |yes: bool| if yes { " " } else { "" };
    let new = [space(runs_together(&head[..at], &new)), &new, space(runs_together(&new, &head[at + old..]))].concat();
    head.replace_range(at..at + old, &new);
}

/// Whether this after the name would be a part of it. In a tag, only ASCII separates.
fn renames(written: &Written, text: &str) -> bool {
    let tag = written.before[..written.name.start].ends_with('<');
    written.name.len() == 4 && text.starts_with(|c: char| c.is_alphanumeric() || (tag && !c.is_ascii()))
}

/// The call up to the key of P, with slips. `entities`: P is in quotes that are entities.
fn head(
    format: &'static Format,
    written: &Written,
    name: Option<&Index>,
    edits: &[(Index, Edit)],
    entities: bool,
    slips: &mut Vec<String>,
) -> String {
    let mut places: Vec<_> = edits.iter().map(|(at, edit)| (*at.get(&written.outside), *edit)).collect();
    places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    let mut head = written.before[..written.binding].to_owned();
    let edit = |head: &mut String, places: &[(usize, Edit)], slips: &mut Vec<String>| {
        for (at, edit) in places {
            let edit = match edit {
                Edit::Open if format.opener.len() < 3 => Edit::Double,
                Edit::Open => Edit::Insert(&format.opener),
                // In YAML these open block scalars, in which quotes are text.
                Edit::Insert(text) | Edit::Replace(text)
                    if format.name == "yaml" && text.trim().starts_with(['|', '>']) =>
                {
                    Edit::Insert(" x")
                }
                // It would be an odd number of them.
                Edit::Insert("&quot;") if entities => Edit::Insert("&quot;z&quot;"),
                // It would be a whole call.
                Edit::Insert("/") if head[*at..].starts_with('>') => Edit::Insert(" x"),
                Edit::Insert("{}") if *at == written.name.end && format.by_bracket => Edit::Insert(" x"),
                // It would be another name.
                Edit::Insert(text) if *at == written.name.end && renames(written, text) => Edit::Insert(" x"),
                edit => *edit,
            };
            edited(head, *at, edit, slips);
        }
    };
    let (after, before) = places.split_at(places.partition_point(|(at, _)| *at >= written.name.end));
    edit(&mut head, after, slips);
    // Two edits together may give another name, too.
    if renames(written, &head[written.name.end..]) {
        written.before[..written.binding].clone_into(&mut head);
        slips.clear();
    }
    if let Some(name) = name {
        let names = match written.before[..written.name.start].trim_end() {
            _ if written.name.len() > 4 => QUOTED_NAMES,
            tag if tag.ends_with('<') => TAG_NAMES,
            // With other slips, an unknown name may be a word of a text.
            _ if edits.is_empty() && name.index(5) == 0 => UNKNOWN_NAMES,
            _ => BARE_NAMES,
        };
        let name = match *name.get(names) {
            // It would be a whole call.
            "save{}" if format.by_bracket => "save:",
            name => name,
        };
        slips.push(format!("name {name}"));
        head.replace_range(written.name.clone(), name);
    }
    edit(&mut head, before, slips);
    head
}

/// Whether a bracket ended the call: then what follows is text. `separator` comes before the arguments. A parenthesis may
/// count as a bracket or not.
fn has_ended(head: &str, separator: Option<&str>) -> bool {
    let arguments =
        separator.and_then(|separator| head.rsplit_once(separator)).map_or(head, |(_, arguments)| arguments);
    let ended = |brackets: &str| {
        let mut depth = 0;
        arguments.chars().filter(|c| brackets.contains(*c)).any(|c| {
            depth += if "{[(".contains(c) { 1 } else { -1 };
            depth <= 0
        })
    };
    ended("{}[]()") || ended("{}[]")
}

/// A text without this quote, unless it is escaped as the encoder does it.
fn quoted_text(format: &'static Format, parts: &[Part], (open, close): (&str, &str)) -> String {
    let (quote, other) = if close.contains('\'') { ("'", "\"") } else { ("\"", "'") };
    // `‚` and `„` have two quotes that end them.
    let ends = |text: &str| {
        if open.starts_with(['‚', '„']) { text.replace(['‘', '’', '“', '”'], "") } else { text.to_owned() }
    };
    let without = |text: &str| ends(text).replace(['\\'], "").replace(close.trim_start_matches('\\'), "");
    let text = |part: &Part| match part {
        Part::Text(text) => without(&text.replace('Q', other)),
        Part::Call { format: in_format, which, ends, inner } => {
            let format_of_call = in_format.map_or(format, |other| other.get(everything()));
            let call = which.get(&format_of_call.rm);
            let end = if *ends { &format_of_call.end[..] } else { "" };
            let call = [end, call].concat();
            match inner {
                _ if close.trim_start_matches('\\') != quote => without(&call),
                Inner::Escaped if close == format.quote => call.replace('\\', "").replace(quote, &format!("\\{quote}")),
                Inner::LeftOut => without(&call),
                Inner::Other | Inner::Escaped => without(&call.replace(quote, other)),
            }
        }
    };
    parts.iter().map(text).collect()
}

/// The message of these choices.
pub(crate) fn case(format: &'static Format, choices: &Choices) -> Case {
    let Choices { truncated, before, opening, binding, gap, prefix, quotes, around, parts, after, .. } = choices;
    let setting = choices.setting.index(format.settings.len());
    let reading = &format.settings[setting];
    let mut notes = Vec::new();
    let entities = quotes.is_some_and(|at| QUOTES[at.index(QUOTES.len())].0 == "&quot;");
    let (opening, written) = match opening {
        Opening::Written { which, name, edits } if !format.written.is_empty() => {
            let written = which.get(&format.written);
            (head(format, written, name.as_ref(), edits, entities, &mut notes), Some(written))
        }
        Opening::Written { which, .. } | Opening::Listed(which) if !reading.openings.is_empty() => {
            let opening = *which.get(&reading.openings);
            notes.push(format!("opening {opening:?}"));
            (opening.to_owned(), None)
        }
        Opening::Written { which, .. } | Opening::Listed(which) => {
            let written = which.get(&format.written);
            (written.before[..written.binding].to_owned(), Some(written))
        }
    };
    let own = written.map(|written| &written.before[written.binding..]);
    let before = if written.is_some_and(|written| written.name.start > 0 && !format.settings[0].openings.is_empty())
        || written.is_none()
    {
        before
    } else {
        ""
    };
    let slips = joined(&choices.slips);
    // In an element, quotes are text.
    let whole = opening.to_ascii_lowercase().replace([' ', '\n'], "").contains("<save>");
    let element = format.name == "yaml" && reading.elements && whole;
    let opening = if element { opening.replace("<call>", "").replace("<b>", "") } else { opening };
    // What ends a tag ends what is in it: the opening's last one is open.
    let tag = opening.rsplit_once('<').is_some_and(|(_, tag)| !tag.is_empty() && !tag.contains('>'));
    let inside_tag = |text: &str| match tag {
        true => text.replace('>', ""),
        false if opening.starts_with('<') && opening.contains("name=") => text.replace("/>", ""),
        false => text.to_owned(),
    };
    // In an element or a parameter, quotes are text like any other.
    let block =
        (reading.elements || format.name == "qwen3coder") && opening.to_ascii_lowercase().contains("<tool_call>");
    let slips = if block { slips.replace("<title>", "") } else { slips };
    // So they are in a block scalar.
    let whole_tag = opening.to_ascii_lowercase().contains("<save>");
    let slips = if whole_tag { slips.replace('|', "") } else { slips };
    let binding = match binding.or(own).unwrap_or("body=") {
        "<body>"
            if block
                || format.name == "qwen3coder"
                || (reading.elements && (whole_tag || opening.contains("<function"))) =>
        {
            "body="
        }
        binding => binding,
    };
    // A comment of JSON ends with its line, whatever quotes are in it.
    let slips = if opening.contains('{') { slips.replace("//", "") } else { slips };
    let (mut opening, mut slips, mut binding, mut end) =
        (opening.clone(), slips, binding.to_owned(), joined(&after.clone().unwrap_or_default().0));
    // Without markers, the last bracket ends a call, and an object with an unknown key may be no call.
    if written.is_none() && BARE.contains(&&opening[..]) {
        let bare = |text: &str| text.replace(']', "").replace("unknown", "body");
        (slips, binding, end) = (bare(&slips), bare(&binding), bare(&end));
    }
    let separator = written.and_then(|written| written.separator.as_deref());
    if let Some(written) =
        written.filter(|_| format.by_bracket && has_ended(&format!("{opening}{slips}{binding}"), separator))
    {
        let without = |text: &str| text.replace([']', ')', '}'], "");
        (slips, binding) = (without(&slips), without(&binding));
        if has_ended(&format!("{opening}{slips}{binding}"), separator) {
            opening = written.before[..written.binding].to_owned();
            notes.clear();
        }
    }
    if choices.binding.is_some() {
        notes.push(format!("binding {binding:?}"));
    }
    notes.extend(choices.slips.iter().map(|(slip, _)| format!("slip {slip:?}")));
    let space = if slips.ends_with(['\'', '<']) || runs_together(&slips, &binding) { " " } else { "" };
    let mut message = [before, &opening, &inside_tag(&slips), space, &inside_tag(&binding)].concat();
    // A quote after a letter is an apostrophe.
    if !message.ends_with(|c: char| c.is_ascii_whitespace() || "=:,([{>".contains(c)) {
        message.push(' ');
    }
    // Other quotes, prefixes and gaps only where a value begins.
    let value = binding.contains(char::is_alphabetic) && binding.trim_end().ends_with(['=', ':', '(', '[', ',', '{']);
    let value = value && (written.is_some() || has_strings(&opening));
    // Where code is text, a backtick begins code.
    let code = reading.name.ends_with("without code");
    // A fence with a slip leaves an odd number of them.
    let code = code || message.replace("```", "").contains('`');
    let quotes = quotes.map(|at| at.index(QUOTES.len())).filter(|at| !code || QUOTES[*at].0 != "`");
    let (open, close) = match quotes {
        Some(at) if value || at < 2 => QUOTES[at],
        _ if written.is_some() => (&format.quote[..], &format.quote[..]),
        _ => QUOTES[0],
    };
    let is_plain = ["\"", "'"].contains(&open);
    let (around_open, around_close) = if is_plain || around.0.len() < 3 { *around } else { ("Q", "Q") };
    if value {
        message += gap;
        if is_plain {
            message += prefix;
        }
        notes.extend((!gap.is_empty()).then(|| format!("gap {gap:?}")));
        notes.extend((is_plain && !prefix.is_empty()).then(|| format!("prefix {prefix}")));
    }
    if open != format.quote {
        notes.push(format!("quotes {open}{close}"));
    }
    if around_open != "Q" {
        notes.push(format!("around {around_open}"));
    }
    message += &around_open.replace('Q', open);
    let start = message.len();
    message += &quoted_text(format, parts, (open, close));
    let quoted = start..message.len();
    message += &around_close.replace('Q', close);
    match (after, written) {
        (None, Some(written)) => message += &written.after,
        (None, None) => message += "</call>",
        (Some((_, closing)), _) => message = message + &end + closing,
    }
    Case { setting, message, quoted, truncated: *truncated, slips: notes }
}
