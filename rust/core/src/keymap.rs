//! A small ordered map: a list of entries, with a hash index once it is long.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// Above this, a scan is slower than a hash lookup, and hostile input could make scans quadratic.
const SCAN: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct KeyMap<V, K = Arc<str>> {
    entries: Vec<(K, V)>,
    index: Option<HashMap<K, usize>>,
}

impl<V, K> Default for KeyMap<V, K> {
    fn default() -> Self {
        KeyMap { entries: Vec::new(), index: None }
    }
}

impl<V, K: Borrow<str> + Clone + Eq + Hash> KeyMap<V, K> {
    /// Removes all entries and keeps the allocation of the list.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.index = None;
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The position of the key in the order of insertion.
    pub(crate) fn position(&self, key: &str) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => {
                // The length and the first byte usually differ, which avoids a call to compare the rest.
                let (length, first) = (key.len(), key.as_bytes().first());
                let same = |k: &str| k.len() == length && k.as_bytes().first() == first && k == key;
                self.entries.iter().position(|(k, _)| same(k.borrow()))
            }
        }
    }

    /// The stored key, and its value.
    pub(crate) fn entry(&self, key: &str) -> Option<(&K, &V)> {
        self.position(key).map(|at| self.at(at))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&V> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    pub(crate) fn at(&self, at: usize) -> (&K, &V) {
        let (key, value) = &self.entries[at];
        (key, value)
    }

    pub(crate) fn value_mut(&mut self, at: usize) -> &mut V {
        &mut self.entries[at].1
    }

    /// Adds a key that is not in the map yet.
    pub(crate) fn push(&mut self, key: K, value: V) {
        if let Some(index) = &mut self.index {
            index.insert(key.clone(), self.entries.len());
        }
        self.entries.push((key, value));
        if self.index.is_none() && self.entries.len() > SCAN {
            self.index = Some(self.entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect());
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.entries.iter().map(|(key, value)| (key.borrow(), value))
    }

    /// Keys and values, in the order of insertion.
    pub(crate) fn into_entries(self) -> Vec<(K, V)> {
        self.entries
    }
}
