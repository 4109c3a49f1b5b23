//! One trial: written, killed, mounted again, looked at.

use std::time::Duration;

use lab::recovery::{done_step, fsck};
use lab::vm::{Guest, Heard, Image};

use super::super::guest::{Next, answer, listen};
use super::{Crash, Failure, Held, Job, Lab, Mounted, Part, Task, Trials, Tried};

/// A writer that has not done anything for so long hangs.
const STANDSTILL: Duration = Duration::from_secs(120);
/// All processes of a killed guest are gone by then.
const GONE_WITHIN: Duration = Duration::from_secs(10);

impl Trials<'_> {
    pub(super) fn trial(
        &self,
        lab: &mut Lab,
        job: &Job,
        seed: u64,
        held: &mut Held,
    ) -> Result<Tried, Failure> {
        let choice = &self.choices[job.choice_index];
        self.step("make the file system");
        let image = lab.build_image(choice, &self.ground, &self.host.kernel)?;
        self.describe(job, &image, held);
        let tried = self.on_image(lab, job, seed, &image);
        // Whatever became of the trial, the image goes.
        let removed = lab.remove_image();
        let tried = tried?;
        removed?;
        Ok(tried)
    }

    fn on_image(
        &self,
        lab: &mut Lab,
        job: &Job,
        seed: u64,
        image: &Image,
    ) -> Result<Tried, Failure> {
        let part = Part::Write {
            seed,
            is_honest: !self.args.no_fsync,
        };
        self.step("write until the kernel is killed");
        let mut writer = lab.boot(image, Task::Recover(part), &self.host)?;
        let done_count = self.write_and_kill(&mut writer, seed, lab)?;
        drop(writer);
        let part = Part::Check { seed, done_count };
        self.step("look for what was synced");
        let mut reader = lab.boot(image, Task::Recover(part), &self.host)?;
        listen(&mut reader, &self.stop, Duration::MAX, |_| Next::Listen)?;
        let mounted: Result<Mounted, String> = answer(&lab.answer(), &reader)?;
        drop(reader);
        Ok(Tried {
            choice_index: job.choice_index,
            trial_index: job.repetition,
            done_count,
            mounted,
            fsck: fsck(lab, &self.choices[job.choice_index]),
        })
    }

    /// Lets the writer work until its moment has come; how many steps were done then.
    fn write_and_kill(&self, writer: &mut Guest, seed: u64, lab: &Lab) -> Result<u32, Failure> {
        let crash = Crash::of(seed);
        let mut done_count = 0;
        let has_ended = listen(writer, &self.stop, STANDSTILL, |line| {
            match done_step(line) {
                Some(step) => done_count = step + 1,
                None => {
                    let said = format!("guest: {}", workload::printable(line));
                    self.progress.borrow_mut().tell(&said);
                }
            }
            match done_count >= crash.done_count {
                true => Next::Leave,
                false => Next::Listen,
            }
        })?;
        if has_ended {
            return answer(&lab.answer(), writer);
        }
        std::thread::sleep(crash.wait);
        writer.kill();
        // What it had said before it died is still in the pipe, which the last of its processes
        // holds open.
        loop {
            match writer.hear(GONE_WITHIN) {
                Heard::Line(line) => done_count = done_step(&line).map_or(done_count, |it| it + 1),
                Heard::Nothing => {}
                Heard::Ended => return Ok(done_count),
            }
        }
    }

    fn step(&self, step: &str) {
        self.progress.borrow_mut().step(step);
    }

    fn describe(&self, job: &Job, image: &Image, held: &mut Held) {
        let made = image.mkfs.as_ref().map(|it| format!("; made by `{it}`"));
        let options = match image.mount_options.as_str() {
            "" => String::new(),
            options => format!("; mounted with `{options}`"),
        };
        let described = format!("{}{}{options}", image.ground, made.unwrap_or_default());
        held.described[job.choice_index].get_or_insert(described);
        let label = &self.choices[job.choice_index].label;
        for note in &image.notes {
            let note = format!("{label}: {note}");
            if !held.notes.contains(&note) {
                held.notes.push(note);
            }
        }
    }
}
