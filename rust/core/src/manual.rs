//! What the model is told about the tools: a header with example calls, then one line for each tool.

use crate::formats::Examples;
use crate::parser::shown_example;
use crate::toolset::Toolset;

impl Toolset {
    /// What the model is told: a header, and one line for each tool. `header` replaces the built-in one.
    pub fn manual(&self, header: Option<&str>) -> String {
        let mut out = header.map_or_else(|| self.header().0, str::to_owned);
        for tool in self.tools() {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&self.signature(tool));
        }
        out
    }

    /// The example calls in the built-in header.
    pub fn examples(&self) -> Vec<String> {
        self.header().1
    }

    fn header(&self) -> (String, Vec<String>) {
        let (prompt, make) = (self.prompt(), |at| shown_example(self, at));
        let examples = Examples::new(&prompt, &make);
        let header = self.protocol.header(&prompt, &examples);
        (header, examples.given())
    }
}
