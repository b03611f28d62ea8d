//! Many messages, parsed by several threads.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use wirecall_core as core;

use crate::ids::Ids;
use crate::message::Message;

/// Each thread takes the next few texts. Only this thread may create Python objects: it creates those of what other threads
/// have parsed before it takes more texts itself. Messages are in the order of their texts.
pub(crate) fn parse_many(
    py: Python<'_>,
    texts: &[PyBackedStr],
    threads: usize,
    read: &(dyn Fn(&PyBackedStr) -> Vec<core::Item> + Sync),
) -> PyResult<Vec<Message>> {
    const FEW: usize = 16;
    // More threads than any machine has cores; each needs a stack.
    const MOST_THREADS: usize = 256;
    let ids = Ids::new();
    let messages: RefCell<Vec<Option<Message>>> = RefCell::new(texts.iter().map(|_| None).collect());
    let make = |start: usize, few: &[Vec<core::Item>]| -> PyResult<()> {
        for (at, items) in (start..).zip(few) {
            messages.borrow_mut()[at] = Some(Message::new(texts[at].as_py_str().bind(py), items, ids.of_message(at))?);
        }
        Ok(())
    };
    let next = AtomicUsize::new(0);
    let take = || {
        let start = next.fetch_add(FEW, Ordering::Relaxed);
        let few = texts.get(start..texts.len().min(start + FEW)).filter(|few| !few.is_empty())?;
        Some((start, few))
    };
    let read_few = |few: &[PyBackedStr]| few.iter().map(read).collect::<Vec<_>>();
    std::thread::scope(|scope| -> PyResult<()> {
        let (send, mut receive) = mpsc::channel();
        for _ in 1..threads.min(texts.len().div_ceil(FEW)).min(MOST_THREADS) {
            let (send, take) = (send.clone(), &take);
            let work = move || {
                // What was parsed is sent back to be freed: freeing another thread's memory is expensive for the allocator.
                let (give_back, freed) = mpsc::channel();
                while let Some((start, few)) = take() {
                    // The receiver is gone only if making objects has failed.
                    if send.send((start, read_few(few), give_back.clone())).is_err() {
                        return;
                    }
                    freed.try_iter().for_each(drop);
                }
            };
            // The system may refuse a thread: the existing ones do the work.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        drop(send);
        let make_sent = |(start, few, back): (usize, Vec<_>, mpsc::Sender<_>)| {
            make(start, &few)?;
            // If the thread has ended, the memory is freed here.
            drop(back.send(few));
            PyResult::Ok(())
        };
        loop {
            if let Ok(sent) = receive.try_recv() {
                make_sent(sent)?;
            } else if let Some((start, few)) = take() {
                make(start, &py.detach(|| read_few(few)))?;
            } else {
                break;
            }
        }
        // A receiver may change threads, but not be shared: the closure has to take it whole.
        let mut wait = || {
            let receive: &mut mpsc::Receiver<_> = &mut receive;
            receive.recv()
        };
        while let Ok(sent) = py.detach(&mut wait) {
            make_sent(sent)?;
        }
        Ok(())
    })?;
    Ok(messages.into_inner().into_iter().flatten().collect())
}
