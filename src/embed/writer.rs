//! Converts `catalog/` into the bytes that the program embeds: records with their table of offsets, vocabulary, and the
//! finder's index. The build script runs it, so that the program has nothing to build at startup.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::catalog::embedded::{Entry, Header};
use crate::catalog::kinds::Kinds;
use crate::catalog::language::{
    AbsentToolset, Agent, ChangeWords, ClientTools, Domain, ExampleWords, GitlabOperations, GlossaryEntry,
    Language, ListWords, QuickAction, ReadableTable, Toolset, Words,
};
use crate::catalog::model::{Action, Version};
use crate::catalog::operation_index::OperationIndex;
use crate::catalog::presentation::PresentationLists;
use crate::catalog::secret_names::SecretNameRules;
use crate::catalog::structured_content::ClientTable;
use crate::search::indexing;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use lz4_flex::block;
use serde::Deserialize;

/// LZ4's window, in bytes.
const DICTIONARY_BYTES: usize = 64 * 1024;

/// The build stops at the first error and prints it.
pub type WriteOutcome<T> = Result<T, Box<dyn Error>>;

/// The part of a curation file that is used at run time; the rest is for the generator.
#[derive(Deserialize)]
struct CurationFile {
    title: String,
    #[serde(default)]
    domain: BTreeMap<String, CuratedDomain>,
}

/// The sections of `toolsets.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartsFile {
    toolset: BTreeMap<String, Toolset>,
    agent: BTreeMap<String, Agent>,
    absent: BTreeMap<String, AbsentToolset>,
    tool_nouns: BTreeMap<String, String>,
    client_tools: BTreeMap<String, ClientTools>,
}

/// The part of `rules.toml` that is used at run time; the generator writes the rest into the actions.
#[derive(Deserialize)]
struct RulesFile {
    quick_actions: QuickActionTexts,
    readable: ReadableTable,
    query_actions: Vec<String>,
    examples: ExampleWords,
    changes: ChangeWords,
    lists: ListWords,
    secrets: SecretNameRules,
}

/// The part of `SOURCE.toml` that is used at run time.
#[derive(Deserialize)]
struct SourceFile {
    openapi: SourceDocument,
    graphql: SourceSchema,
}

#[derive(Deserialize)]
struct SourceDocument {
    gitlab_version: Version,
    operations: usize,
}

#[derive(Deserialize)]
struct SourceSchema {
    mutations: usize,
    queries: usize,
    fields: usize,
}

#[derive(Deserialize)]
struct QuickActionTexts {
    commands: BTreeMap<String, QuickAction>,
}

#[derive(Deserialize)]
struct CuratedDomain {
    #[serde(default)]
    nouns: Vec<String>,
}

/// Loads the catalog's folder and writes the embedded files to `out`. With `times` above 1 the catalog is repeated.
pub fn write(root: &Path, out: &Path, times: u8) -> WriteOutcome<Version> {
    let mut actions = read_actions(&root.join("actions"))?;
    let rules: RulesFile = parse(&root.join("rules.toml"))?;
    fs::write(out.join("secret_names.rs"), rules.secrets.to_expression()?)?;
    let presentation: PresentationLists = parse(&root.join("presentation.toml"))?;
    fs::write(out.join("presentation.rs"), presentation.to_expression())?;
    let clients: ClientTable = parse(&root.join("structured_content.toml"))?;
    fs::write(out.join("structured_content.rs"), clients.to_expression())?;
    let kinds: Kinds = parse(&root.join("kinds.toml"))?;
    fs::write(out.join("catalog_kinds.bin"), postcard::to_allocvec(&kinds)?)?;
    let mut words = read_words(root, rules)?;
    for (action, plan) in actions.iter().filter_map(|action| Some((action, action.plan.as_ref()?))) {
        let domain = words.domains.get_mut(action.domain()).ok_or("a composite action without a domain")?;
        domain.parts.extend(plan.needs.iter().chain(&plan.picks).cloned());
        // With an item its comments, diffs and links are read.
        let items = kinds.kinds.iter().filter_map(|kind| kind.item.as_ref());
        let fetched = items.filter(|item| plan.picks.contains(&item.read));
        domain
            .parts
            .extend(fetched.flat_map(|item| [&item.comments, &item.diffs, &item.links]).flatten().cloned());
    }
    let surface = postcard::to_allocvec(&OperationIndex::new(&actions)?)?;
    multiply(&mut actions, &mut words, times)?;
    write_catalog(&actions, out)?;
    write_fragments(&fs::read_to_string(root.join("fragments.graphql"))?, out)?;
    write_types(&fs::read_to_string(root.join("types.txt"))?, out)?;
    fs::write(out.join("catalog_words.bin"), deflate(&postcard::to_allocvec(&words)?)?)?;
    fs::write(out.join("catalog_surface.bin"), deflate(&surface)?)?;
    let read = |name: &str| fs::read_to_string(root.join(name));
    let pages = toml::from_str(&read("pages.toml")?)?;
    let usage = toml::from_str(&read("usage.toml")?)?;
    let learned = fs::read(root.join("learned/actions.bin"))?;
    let untrained = fs::read(root.join("learned/untrained.bin"))?;
    write_search(&indexing::build(&actions, &words, &pages, &usage, &learned, &untrained)?, out)?;
    Ok(words.gitlab_version)
}

/// Repeats every action under other names, for `benches/find.rs` only: measures how time and memory grow with the
/// catalog.
fn multiply(actions: &mut Vec<Action>, words: &mut Words, times: u8) -> WriteOutcome<()> {
    let (first, nouns) = (actions.clone(), words.domains.clone());
    for copy in 1..times {
        let other = |name: &str| format!("{name}{}", char::from(b'a' + copy));
        let other_id =
            |id: &str| id.split_once('.').map(|(domain, verb)| format!("{}.{verb}", other(domain)));
        for action in &first {
            let id = other_id(&action.id).ok_or("an id without a domain")?;
            let twin = action.twin.as_deref().and_then(other_id);
            actions.push(Action { id, twin, aliases: Vec::new(), ..action.clone() });
        }
        for (name, domain) in &nouns {
            let nouns = domain.nouns.iter().map(|noun| other(noun)).collect();
            words.domains.insert(other(name), Domain { nouns, ..domain.clone() });
        }
    }
    actions.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(())
}

fn files(folder: &Path, ending: &str) -> WriteOutcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == ending) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn read_actions(folder: &Path) -> WriteOutcome<Vec<Action>> {
    let mut actions: Vec<Action> = Vec::new();
    for path in files(folder, "jsonl")? {
        for (number, line) in
            fs::read_to_string(&path)?.lines().enumerate().filter(|(_, line)| line.starts_with('{'))
        {
            let action =
                serde_json::from_str(line).map_err(|e| format!("{}:{}: {e}", path.display(), number + 1))?;
            actions.push(action);
        }
    }
    actions.sort_by(|a, b| a.id.cmp(&b.id));
    match actions.windows(2).find(|pair| matches!(pair, [a, b] if a.id == b.id)) {
        Some([twice, _]) => Err(format!("two actions are called {}", twice.id).into()),
        _ => Ok(actions),
    }
}

fn read_words(root: &Path, rules: RulesFile) -> WriteOutcome<Words> {
    let language: Language = parse(&root.join("language.toml"))?;
    let glossary: BTreeMap<String, GlossaryEntry> = parse(&root.join("curation/glossary.toml"))?;
    let parts: PartsFile = parse(&root.join("curation/toolsets.toml"))?;
    let (mut domains, mut families) = (BTreeMap::new(), BTreeMap::new());
    for path in files(&root.join("curation"), "toml")? {
        let family = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if ["glossary", "toolsets"].contains(&family.as_str()) {
            continue;
        }
        let file: CurationFile = parse(&path)?;
        families.insert(family.clone(), file.title);
        for (name, CuratedDomain { nouns }) in file.domain {
            domains.insert(name, Domain { family: family.clone(), nouns, parts: Vec::new() });
        }
    }
    let source: SourceFile = parse(&root.join("SOURCE.toml"))?;
    Ok(Words {
        gitlab_version: source.openapi.gitlab_version,
        gitlab_operations: GitlabOperations {
            rest: source.openapi.operations,
            graphql: source.graphql.mutations + source.graphql.queries + source.graphql.fields,
        },
        language,
        domains,
        glossary,
        families,
        toolsets: parts.toolset,
        absent_toolsets: parts.absent,
        tool_nouns: parts.tool_nouns,
        client_tools: parts.client_tools,
        agents: parts.agent,
        quick_actions: rules.quick_actions.commands,
        readable: rules.readable,
        query_actions: rules.query_actions,
        examples: rules.examples,
        changes: rules.changes,
        lists: rules.lists,
    })
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> WriteOutcome<T> {
    toml::from_str(&fs::read_to_string(path)?).map_err(|e| format!("{}: {e}", path.display()).into())
}

fn write_catalog(actions: &[Action], out: &Path) -> WriteOutcome<()> {
    let plain: Vec<Vec<u8>> = actions.iter().map(record).collect::<WriteOutcome<_>>()?;
    let dictionary = dictionary(&plain);
    let mut records = Vec::new();
    let mut entries = Vec::new();
    let mut aliases: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    for (number, action) in actions.iter().enumerate() {
        entries.push(Entry { id: &action.id, offset: u32::try_from(records.len())? });
        let record = plain.get(number).map(Vec::as_slice).unwrap_or_default();
        records.extend(block::compress_prepend_size_with_dict(record, &dictionary));
        for alias in &action.aliases {
            aliases.entry(alias).or_default().push(u16::try_from(number)?);
        }
    }
    let header = Header { entries, aliases: aliases.into_iter().collect() };
    fs::write(out.join("catalog_header.bin"), postcard::to_allocvec(&header)?)?;
    fs::write(out.join("catalog_dictionary.bin"), dictionary)?;
    fs::write(out.join("catalog_records.bin"), records)?;
    Ok(())
}

/// Record of an action at run time, without its phrases: those are in the search index and never shown.
fn record(action: &Action) -> WriteOutcome<Vec<u8>> {
    Ok(postcard::to_allocvec(&Action { phrases: Vec::new(), ..action.clone() })?)
}

/// Compression dictionary: sample records from the whole catalog. A single record has little repetition.
fn dictionary(records: &[Vec<u8>]) -> Vec<u8> {
    let all: usize = records.iter().map(Vec::len).sum();
    let step = (all / DICTIONARY_BYTES).max(1);
    let mut dictionary: Vec<u8> = records.iter().step_by(step).flatten().copied().collect();
    dictionary.truncate(DICTIONARY_BYTES);
    dictionary
}

/// Writes one fragment per line, `fragment NAME on TYPE{…}`, in the order of the names.
fn write_fragments(text: &str, out: &Path) -> WriteOutcome<()> {
    let definitions = text.lines().filter_map(|line| {
        let name = line.strip_prefix("fragment ")?.split_once(' ')?.0;
        Some((name, line))
    });
    let fragments: BTreeMap<&str, &str> = definitions.collect();
    let fragments: Vec<(&str, &str)> = fragments.into_iter().collect();
    fs::write(out.join("catalog_fragments.bin"), postcard::to_allocvec(&fragments)?)?;
    Ok(())
}

/// Writes the lines without the leading comment, compressed: few calls read them.
fn write_types(text: &str, out: &Path) -> WriteOutcome<()> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    fs::write(out.join("catalog_types.bin"), deflate(lines.join("\n").as_bytes())?)?;
    Ok(())
}

/// Compresses rarely read data.
fn deflate(bytes: &[u8]) -> WriteOutcome<Vec<u8>> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// Writes the finder's embedded files.
fn write_search(built: &indexing::Built, out: &Path) -> WriteOutcome<()> {
    fs::write(out.join("search_table.bin"), &built.table)?;
    fs::write(out.join("search_index.bin"), &built.index)?;
    fs::write(out.join("search_profiles.bin"), &built.profiles)?;
    fs::write(out.join("search_embeddings.bin"), &built.embeddings)?;
    fs::write(out.join("search_routes.bin"), deflate(&built.routes)?)?;
    fs::write(out.join("search_params.bin"), deflate(&built.params)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    const GET: &str = r#"{"action":"issue.get","summary":"Read an issue","risk":"read","operations":[]}"#;
    const LIST: &str = r#"{"action":"issue.list","summary":"List issues","risk":"read","operations":[]}"#;

    #[test]
    fn actions_of_all_files_are_sorted_by_id() {
        let folder =
            folder(&[("b.jsonl", &format!("# a remark\n{LIST}\n")), ("a.jsonl", GET), ("c.txt", "no")]);
        let actions = read_actions(folder.path()).unwrap();
        assert_eq!(
            actions.iter().map(|action| action.id.as_str()).collect::<Vec<_>>(),
            ["issue.get", "issue.list"]
        );
    }

    #[test]
    fn an_id_in_two_files_stops_the_build() {
        let folder = folder(&[("a.jsonl", GET), ("b.jsonl", GET)]);
        assert_eq!(read_actions(folder.path()).unwrap_err().to_string(), "two actions are called issue.get");
    }

    #[test]
    fn a_malformed_line_is_named_by_file_and_line() {
        let folder = folder(&[("a.jsonl", &format!("{GET}\n{{\"action\": 5}}\n"))]);
        let error = read_actions(folder.path()).unwrap_err().to_string();
        assert!(error.contains("a.jsonl:2: "), "{error}");
    }

    #[test]
    fn records_are_decompressed_with_the_dictionary_at_their_offsets() {
        let source = folder(&[("a.jsonl", &format!("{GET}\n{LIST}\n"))]);
        let out = tempfile::tempdir().unwrap();
        let mut actions = read_actions(source.path()).unwrap();
        actions[0].aliases.push("get_issue".to_owned());
        write_catalog(&actions, out.path()).unwrap();
        let read = |name: &str| fs::read(out.path().join(name)).unwrap();
        let (header, dictionary, records) =
            (read("catalog_header.bin"), read("catalog_dictionary.bin"), read("catalog_records.bin"));
        let header: Header<'_> = postcard::from_bytes(&header).unwrap();
        assert_eq!(header.aliases, [("get_issue", vec![0])]);
        let second = &records[header.entries[1].offset as usize..];
        let record = block::decompress_size_prepended_with_dict(second, &dictionary).unwrap();
        let action: Action = postcard::from_bytes(&record).unwrap();
        assert_eq!((header.entries[1].id, action.summary.as_str()), ("issue.list", "List issues"));
    }

    #[test]
    fn copies_of_the_catalog_have_ids_of_their_own() {
        let folder = folder(&[("a.jsonl", GET)]);
        let mut actions = read_actions(folder.path()).unwrap();
        multiply(&mut actions, &mut Words::default(), 3).unwrap();
        let ids: Vec<&str> = actions.iter().map(|action| action.id.as_str()).collect();
        assert_eq!(ids, ["issue.get", "issueb.get", "issuec.get"]);
    }
}
