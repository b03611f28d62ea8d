//! Openings of calls that no encoder writes, for the protocols that others read as repairs.

/// How a call of `save` may be opened: by the names of the formats in which that is one.
#[rustfmt::skip]
const WIRE: &[&str] = &[
    "<call>save ", "<call>save ", "<call>save ", "<call>save\n", "<call> save ", "<call>\nsave ", "<call>save(", "<call>save (", "<call>save, ", "<call>save: ", "<call>save:\n", "<call>Save ", "<call>SAVE(",
    "<call>\"save\" ", "<call>'save' ", "<call>\"save\"(", "<call>name=\"save\" ", "<call>name=save ", "<call>tool='save' ", "<call>function=save ", "<call>functions.save ", "<call>functions.save(", "<call>`save` ",
    "<call>save {", "<call>save{", "<call>save {\"title\": \"a\", ", "<call>save <json>{", "<call>save ```json\n{", "<call>save <", "<call>save [", "<call>save | ", "<call>save)", "<call>save> ", "<call>save; ",
    "<call>{\"name\":\"save\",\"arguments\":{", "<call>\n{\"name\":\"save\",\"arguments\":{", "<call> {\"name\": \"save\", ", "<call>[{\"name\":\"save\",\"arguments\":{", "<call>\n[{\"name\":\"save\", ",
    "<CALL>save ", "<Call>save ", "<call >save ", "<call\n>save ", "<call name=\"save\" ", "<call name='save' ", "<call name=\"save\">", "<call name=\"save\" title=\"a\">", "<call name=save ", "<call tool=\"save\" ", "<call function=\"save\" ", "<CALL name=\"save\" ",
    "<call save ", "<call title=\"a\" name=\"save\" ", "[call]save ", "[CALL]save ", "&lt;call&gt;save ", "<tool_call>save ", "<TOOL_CALL>save ", "<tool_call>\nsave ", "<tool_call>save(", "[call]save(", "&lt;call&gt;save: ",
    "<call>save=", "<call>save the following: ", "<call>nope title=\"a\" ", "<call>sav title=\"a\" ",
];
#[rustfmt::skip]
const HERMES: &[&str] = &[
    "<tool_call>{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"save\",\"arguments\":{", "<tool_call>\n{\"name\": \"save\", \"arguments\": {", "<tool_call>{\"arguments\":{", "<tool_call>{'name':'save','arguments':{",
    "<tool_call>{name: save, arguments: {", "<tool_call>[{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"save\" \"arguments\":{", "<tool_call>{\"name\":\"save\",", "<tool_call>{\"name\":\"save\"; ",
    "<tool_call><json>{\"name\":\"save\",\"arguments\":{", "<tool_call>```json\n{\"name\":\"save\",\"arguments\":{", "<tool_call>{\"name\":\"nope\",\"arguments\":{", "<tool_call>{\"tool\":\"save\",\"args\":{",
    "<tool_call>{\"title\":\"a\", ", "<tool_call>{\"x\":{\"name\":\"save\",\"arguments\":{", "<tool_call>save {", "<tool_call>save(", "<tool_call>save ", "<tool_call>\"save\" ", "<TOOL_CALL>{\"name\":\"save\",\"arguments\":{",
    "<tool_call name=\"save\">{", "<tool_call name=\"save\" ", "<tool_call >{\"name\":\"save\",\"arguments\":{", "<tool_call>: {\"name\":\"save\",", "<tool_call>json\n{\"name\":\"save\",\"arguments\":{", "<tool_call>name=\"save\" ",
    "<tool_call>{save: ", "<tool_call>{{\"name\":\"save\",\"arguments\":{", "<tool_call>({\"name\":\"save\",",
];
#[rustfmt::skip]
const GEMMA: &[&str] = &[
    "```tool_call\n{\"name\":\"save\",\"arguments\":{", "```tool_call\n{\"name\": \"save\", \"arguments\": {", "```tool_call\n[{\"name\":\"save\",\"arguments\":{", "```tool_call\nsave(", "```tool_call\n\"save\" ",
    "```tool_call {\"name\":\"save\",", "```tool_call\n{name: save, ", "```TOOL_CALL\n{\"name\":\"save\",\"arguments\":{", "```tool_call\nsave: ",
];
#[rustfmt::skip]
const TAGS: &[&str] = &[
    "<save ", "<save ", "<save title=\"a\">", "<save title=\"a\" x>\n", "<SAVE ", "<save\n", "< save ", "<save x ", "<save title=\"a\" ", "<save title='a' x ", "<save title: \"a\" ", "<save,", "<save(",
];
#[rustfmt::skip]
const YAML: &[&str] = &[
    "<save>\ntitle: \"a\" x\n", "<save>\ntitle: \"a\"\n", "<save>\n", "<save>\n{", "<save>\n- ", "<save>\ntags:\n- ", "<save>\nopts: {", "<save>\ntitle: 'a' x\n", "<save>{\"title\": \"a\" x, ", "<save>\ntitle = \"a\"\n", "<SAVE>\n",
];
#[rustfmt::skip]
const FUNCTIONS: &[&str] = &[
    "<tool_call><function=save ", "<function=save ", "<function=save title=\"a\">", "<tool_call><function=save title=\"a\">", "<function name=\"save\" ", "<invoke name=\"save\" ", "<invoke name='save' x ", "<tool name=\"save\" ", "<call name=\"save\" ", "<tool_call name=\"save\" ",
    "<function=\"save\" ", "<tool_call>\n<function=save title=\"a\" ", "<tool_call><function=save>{", "<tool_call><function=save>\n{\"title\": \"a\" x, ", "<function=save>{",
    "<tool_call><function=save><parameter name=\"title\" ", "<tool_call><function=save><parameter=", "<tool_call>save ", "<tool_call>\nsave ", "<tool_call>save(", "<call>save ", "<CALL>save ",
    "<call>save(", "<function>save ", "<tool>save ", "<invoke>save ", "<tool_call><function>save ", "<tool_call>\n<function>save</function>\n", "<tool_call>{\"name\":\"save\",\"arguments\":{",
    "<tool_call>\n{\"name\": \"save\", \"arguments\": {",
];
pub(crate) const BARE: &[&str] = &[
    "\n{\"name\":\"save\",\"arguments\":{",
    "```json\n{\"name\":\"save\",\"arguments\":{",
    "\n[{\"name\":\"save\",\"arguments\":{",
    "\n{\"name\":\"save\"; ",
    "\n{\"name\":\"save\" \"arguments\":{",
    "\n{\"name\": save, \"arguments\": {",
    "\n{name: \"save\", arguments: {",
    "\n{\"tool\":\"save\",\"args\":{",
    "\n{\"type\":\"function\",\"function\":{\"name\":\"save\" ",
    "```json\n[{\"name\":\"save\" ",
    "```\n{\"name\": \"save\", \"arguments\": {\"title\": \"a\" x, ",
];

/// Those of a protocol; none if it is not one of these.
pub(crate) fn listed(protocol: &str) -> Vec<&'static str> {
    let own: &[&[&str]] = match protocol {
        "wire" => &[WIRE],
        "hermes" => &[HERMES],
        "gemma" => &[GEMMA],
        "xml" => &[TAGS],
        "yaml" => &[TAGS, YAML],
        "qwen3coder" => &[FUNCTIONS],
        "auto" => &[WIRE, HERMES, GEMMA, TAGS, YAML, FUNCTIONS],
        "recover" => &[WIRE, HERMES, GEMMA, TAGS, YAML, FUNCTIONS, BARE],
        _ => &[],
    };
    own.concat()
}

/// Whether strings of such a call are in quotes, rather than attributes only.
pub(crate) fn has_strings(opening: &str) -> bool {
    !TAGS.contains(&opening) && !FUNCTIONS.contains(&opening)
}
