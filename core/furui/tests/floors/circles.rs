//! Finds circles: sibling modules that use each other, directly or through others. A module stands for everything
//! inside it, so if there is no circle of modules, there is none of files.
//!
//! A file may name items of its own parent module, which declares it, without making a circle.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::floors::sources::{imports, paths};

/// A module's path from the root of its crate; the root itself is empty.
type Module = Vec<String>;

/// The files of a crate, by their modules.
pub struct Files<'a> {
    files: BTreeMap<Module, &'a (String, String)>,
    /// For each module, the names that its `use` items import, and the path of each.
    imports: HashMap<Module, HashMap<String, Vec<String>>>,
}

/// For each module, the modules that it uses.
type Graph<'a> = BTreeMap<&'a [String], BTreeSet<&'a [String]>>;

/// An arrow to a module, with the line and the path from which it comes.
type Arrow = (Module, usize, Vec<String>);

impl<'a> Files<'a> {
    /// Takes the files of a crate: each file's name under `src`, and its text.
    pub fn new(sources: &'a [(String, String)]) -> Self {
        let files: BTreeMap<Module, _> = sources.iter().map(|source| (module(&source.0), source)).collect();
        let imports = files.iter().map(|(module, (_, text))| (module.clone(), imports(text))).collect();
        Self { files, imports }
    }

    /// One message for each circle of modules that use each other, with the paths by which they do.
    pub fn circles(&self) -> Vec<String> {
        let arrows: Vec<(&Module, Arrow)> =
            self.files.keys().flat_map(|from| self.arrows(from).into_iter().map(move |arrow| (from, arrow))).collect();
        // An arrow between two files counts as an arrow between the two sibling modules that contain the files.
        let mut beside: BTreeMap<&[String], Graph> = BTreeMap::new();
        for (from, (to, ..)) in &arrows {
            if let Some(common) = from.iter().zip(to).position(|(a, b)| a != b) {
                let (a, b) = (&from[..=common], &to[..=common]);
                beside.entry(&from[..common]).or_default().entry(a).or_default().insert(b);
            }
        }
        let mut messages = Vec::new();
        for circle in beside.values().flat_map(circles) {
            let mut message = "these modules use each other; move what they share into one of its own:".to_owned();
            for (from, (to, line, path)) in &arrows {
                let holder = |module: &Module| circle.iter().find(|other| module.starts_with(other)).copied();
                if holder(from).is_some() && holder(to).is_some() && holder(from) != holder(to) {
                    let (from, to) = (&self.files[*from].0, &self.files[to].0);
                    message += &format!("\n  src/{from}:{line}: {}, of src/{to}", path.join("::"));
                }
            }
            messages.push(message);
        }
        messages
    }

    /// The files that a file names, except itself and the modules that contain it.
    fn arrows(&self, from: &Module) -> Vec<Arrow> {
        let is_root = |name: &str| ["crate", "super", "self"].contains(&name) || self.is_module(from, name);
        let mut arrows = Vec::new();
        for (line, path) in paths(&self.files[from].1, is_root) {
            if let Some(to) = self.resolve(from, &path, 0).filter(|to| !from.starts_with(to)) {
                arrows.push((to, line, path));
            }
        }
        arrows
    }

    fn is_module(&self, parent: &Module, name: &str) -> bool {
        self.files.contains_key(&[&parent[..], &[name.to_owned()]].concat())
    }

    /// The module in whose file the last name of `path`, as written in `from`, is defined. `None` if it is not in this
    /// crate.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        // Imports that lead in a circle only have to end here, because rustc refuses them.
        if depth > 16 {
            return None;
        }
        let supers = path.iter().take_while(|name| *name == "super").count();
        let (mut at, rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "super" => (from[..from.len().checked_sub(supers)?].to_vec(), &path[supers..]),
            "self" => (from.clone(), &path[1..]),
            first if self.is_module(from, first) => (from.clone(), path),
            _ => return None,
        };
        for (i, name) in rest.iter().enumerate() {
            if self.is_module(&at, name) {
                at.push(name.clone());
            } else if let Some(import) = self.imports[&at].get(name) {
                return self.resolve(&at, &[import, &rest[i + 1..]].concat(), depth + 1);
            } else {
                break;
            }
        }
        Some(at)
    }
}

/// The module of a file: `filter/quotient/mod.rs` is `filter::quotient`, and `lib.rs` or `main.rs` is the root.
fn module(file: &str) -> Module {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" || path == "main" { Vec::new() } else { path.split('/').map(str::to_owned).collect() }
}

/// The circles of a graph: sets of modules that can all reach each other.
fn circles<'a>(graph: &Graph<'a>) -> BTreeSet<Vec<&'a [String]>> {
    let reachable = |module: &'a [String]| {
        let (mut reached, mut next) = (BTreeSet::new(), vec![module]);
        while let Some(module) = next.pop() {
            next.extend(graph.get(module).into_iter().flatten().filter(|to| reached.insert(**to)));
        }
        reached
    };
    let reach: Graph<'a> = graph.keys().map(|&from| (from, reachable(from))).collect();
    let leads = |from: &[String], to: &[String]| reach.get(from).is_some_and(|reached| reached.contains(to));
    let on_circles = reach.iter().filter(|(module, _)| leads(module, module));
    on_circles.map(|(module, reached)| reached.iter().filter(|other| leads(other, module)).copied().collect()).collect()
}
