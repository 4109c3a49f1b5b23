//! Random directory trees, the same in every run.
//!
//! Source: filebench 1.5's method of populating a fileset. It draws from the C library's `drand48`,
//! without a seed, and from Knuth's gamma distributions (The Art of Computer Programming, volume 2,
//! 3.4.1). The last fileset defined is populated first.

use std::f64::consts::{E, PI};
use std::fmt::Write as _;
use std::sync::Arc;

use plan::program::{DirectoryTree, FilesetPlan, Program, Shape, TreeGrowth};

use super::sampler::Sampler;
use crate::{GenerateError, mix};

/// Maximum nesting of directories: a path with more exceeds Linux's limit.
const LEVELS_MAX: u32 = 100;

/// A tree with its entries, which are files or directories.
#[derive(Debug, Clone, PartialEq)]
pub struct GrownTree {
    /// Each directory with its parent; the first is that of the fileset. Every directory follows
    /// its parent.
    directories: Vec<TreeNode>,
    entries: Vec<TreeNode>,
    /// Size of each entry in bytes.
    pub sizes: Arc<[u64]>,
}

/// A node in a directory; its name is its number in eight digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TreeNode {
    directory: u32,
    number: u32,
}

impl GrownTree {
    /// Number of directories, including that of the fileset.
    #[must_use]
    pub fn directory_count(&self) -> u32 {
        self.directories.len() as u32
    }

    /// Path from the fileset's directory to each other directory, parents first.
    pub fn directories(&self) -> impl Iterator<Item = String> {
        (1..self.directory_count()).map(|directory| self.path(directory))
    }

    /// Path of each entry, in order.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| self.way(*entry))
    }

    /// A path in each directory, including that of the fileset.
    pub fn path_in_each_directory(&self) -> impl Iterator<Item = String> {
        (0..self.directory_count()).map(|directory| {
            let number = 1;
            self.way(TreeNode { directory, number })
        })
    }

    fn path(&self, directory: u32) -> String {
        self.way(self.directories[directory as usize])
    }

    fn way(&self, node: TreeNode) -> String {
        let mut numbers = vec![node.number];
        let mut above = node.directory;
        while above > 0 {
            let directory = self.directories[above as usize];
            numbers.push(directory.number);
            above = directory.directory;
        }
        let mut path = String::with_capacity(9 * numbers.len());
        for number in numbers.iter().rev() {
            let slash = if path.is_empty() { "" } else { "/" };
            // Writing to a string cannot fail.
            let _ = write!(path, "{slash}{number:08}");
        }
        path
    }
}

/// Trees of a program's filesets, by number; `None` for other kinds of filesets.
///
/// # Errors
/// If a parameter of a law is out of range.
pub fn grown_trees(program: &Program) -> Result<Vec<Option<GrownTree>>, GenerateError> {
    // filebench never seeds `drand48`, and glibc's state is 0 then.
    let mut library = Drand48(0);
    let mut trees: Vec<Option<GrownTree>> = program.filesets.iter().map(|_| None).collect();
    // filebench fills the newest fileset first, and all filesets draw from one generator.
    for (fileset, tree) in program.filesets.iter().zip(&mut trees).rev() {
        if let DirectoryTree::Grown(growth) = &fileset.tree {
            *tree = Some(TreeBuilder::new(fileset, growth, &mut library)?.tree());
        }
    }
    Ok(trees)
}

/// The C library's `drand48` without a seed.
struct Drand48(u64);

impl Drand48 {
    fn next(&mut self) -> f64 {
        // The multiplier and the increment of drand48(3).
        let product = 0x0005_deec_e66d_u64.wrapping_mul(self.0).wrapping_add(0xb);
        self.0 = product & ((1 << 48) - 1);
        self.0 as f64 / (1_u64 << 48) as f64
    }

    /// A gamma distribution with this shape and scale.
    fn gamma(&mut self, shape: f64, scale: f64) -> f64 {
        scale
            * match shape > 1.0 {
                true => self.above_one(shape),
                false => self.up_to_one(shape),
            }
    }

    /// Knuth's algorithm A.
    fn above_one(&mut self, shape: f64) -> f64 {
        let root = (2.0 * shape - 1.0).sqrt();
        loop {
            let y = (PI * self.next()).tan();
            let x = root * y + shape - 1.0;
            if x <= 0.0 {
                continue;
            }
            let exponent = (shape - 1.0) * (x / (shape - 1.0)).ln() - root * y;
            if self.next() <= (1.0 + y * y) * exponent.exp() {
                return x;
            }
        }
    }

    /// Knuth's algorithm G.
    fn up_to_one(&mut self, shape: f64) -> f64 {
        let share = E / (shape + E);
        loop {
            let is_low = self.next() < share;
            let mut v = self.next();
            // The logarithm and the power of 0 would not be finite.
            while v == 0.0 {
                v = self.next();
            }
            let (x, q) = match is_low {
                true => {
                    let x = v.powf(1.0 / shape);
                    (x, (-x).exp())
                }
                false => {
                    let x = 1.0 - v.ln();
                    (x, x.powf(shape - 1.0))
                }
            };
            if self.next() < q {
                return x;
            }
        }
    }
}

/// Builds the tree of a fileset.
struct TreeBuilder<'a> {
    fileset: &'a FilesetPlan,
    /// Shape parameter of width and depth; 0 if both are constant.
    shape: f64,
    width: Sampler,
    size: Sampler,
    /// Shape and scale of sizes that are drawn by the tree's generator.
    library_size: Option<(f64, f64)>,
    mean_depth: f64,
    drawn_count: u64,
    library: &'a mut Drand48,
    directories: Vec<TreeNode>,
    entries: Vec<TreeNode>,
    sizes: Vec<u64>,
}

impl<'a> TreeBuilder<'a> {
    fn new(
        fileset: &'a FilesetPlan,
        growth: &TreeGrowth,
        library: &'a mut Drand48,
    ) -> Result<Self, GenerateError> {
        let library_size = match fileset.size.shape {
            Shape::Gamma { mean, shape } if growth.is_size_of_tree => Some((shape, mean / shape)),
            _ => None,
        };
        Ok(Self {
            fileset,
            shape: f64::from(growth.gamma_permille) / 1000.0,
            width: Sampler::new(&growth.width)?,
            size: Sampler::new(&fileset.size)?,
            library_size,
            mean_depth: growth.mean_depth(fileset.count),
            drawn_count: 0,
            library,
            directories: Vec::new(),
            entries: Vec::new(),
            sizes: Vec::new(),
        })
    }

    fn tree(mut self) -> GrownTree {
        let root = TreeNode {
            directory: 0,
            number: 1,
        };
        self.directory(root, 0);
        GrownTree {
            directories: self.directories,
            entries: self.entries,
            sizes: self.sizes.into(),
        }
    }

    /// Random bits of this program, for values that filebench does not draw from the C library.
    fn bits(&mut self) -> u64 {
        self.drawn_count += 1;
        mix(self.drawn_count)
    }

    fn directory(&mut self, node: TreeNode, level: u32) {
        let own = self.directories.len() as u32;
        self.directories.push(node);
        let level = level + 1;
        let depth = match self.shape > 0.0 {
            true => self.library.gamma(self.shape, self.mean_depth / self.shape),
            false => self.mean_depth,
        };
        let width = self.width();
        // Like the cast in C, a value that is not finite becomes 0 levels.
        let depth = if depth.is_finite() { depth as u32 } else { 0 };
        // A depth of 0 counts as 1, as a width of 0 does.
        let is_leaf = level >= depth.max(1) || level >= LEVELS_MAX;
        let is_root = level == 1;
        let mut number = 1;
        // The root has no width: it takes entries until all files exist.
        while (is_root || f64::from(number) < width + 1.0) && self.has_room() {
            let node = TreeNode {
                directory: own,
                number,
            };
            // In filebench, the root contains only directories.
            match is_leaf && !is_root {
                true => self.entry(node),
                false => self.directory(node, level),
            }
            number += 1;
        }
    }

    fn has_room(&self) -> bool {
        (self.entries.len() as u64) < u64::from(self.fileset.count)
    }

    fn width(&mut self) -> f64 {
        let bits = self.bits();
        let mean = self.width.amount(bits) as f64;
        let width = match self.width.always().is_some() && self.shape > 0.0 {
            true => self.library.gamma(self.shape, mean / self.shape),
            false => mean,
        };
        if width == 0.0 { 1.0 } else { width }
    }

    fn entry(&mut self, node: TreeNode) {
        let size = match self.library_size {
            // Like in C, the cast drops the fractional part.
            Some((shape, scale)) => {
                let size = self.library.gamma(shape, scale) as u64;
                self.fileset.size.within(size)
            }
            None => {
                let bits = self.bits();
                self.size.amount(bits)
            }
        };
        self.entries.push(node);
        self.sizes.push(size);
    }
}

#[cfg(test)]
mod tests;
