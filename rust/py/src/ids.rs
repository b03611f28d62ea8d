//! Ids of calls: `call_` and 24 random characters.

/// A generator for one message: seeded by the operating system, so that forked processes do not repeat each other.
#[derive(Debug, Default)]
pub struct Ids(Option<fastrand::Rng>);

impl Ids {
    pub fn next(&mut self) -> String {
        let random = self.0.get_or_insert_with(|| {
            let mut seed = [0; 8];
            // Without the system's randomness the thread's generator is as good as it gets.
            match getrandom::fill(&mut seed) {
                Ok(()) => fastrand::Rng::with_seed(u64::from_ne_bytes(seed)),
                Err(_) => fastrand::Rng::new(),
            }
        });
        let mut id = String::with_capacity(29);
        id.push_str("call_");
        id.extend(std::iter::repeat_with(|| random.alphanumeric()).take(24));
        id
    }
}
