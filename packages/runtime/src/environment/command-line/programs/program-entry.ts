/**
 * The meaning of a word to a program.
 * - `text`: printed, compared, counted or sent nowhere. `plain`: the same, and it begins with no dash, so that it is no option of another program.
 * - `argument`: the same, for a script of a package: it has no sign of a shell, because old package managers hand it on in double quotes.
 * - `number`: a number with an optional sign and unit. `read`: a file whose content is read. `look`: a file or folder of which name and properties are seen.
 * - `write`: a file or folder that is written, moved or deleted. `into`: the same, or a folder into which the operands before it go under their names.
 * - `link`: a file or folder that gets another name, by which it can be read and written.
 * - `symlink`: the same of a symbolic link, which takes it from its own folder.
 * - `host`: a host, an address or a URL; of a `file:` URL the file is read. `data`: text, or after `@` the name of a file that is read.
 * - `command`: this and all following words are a command; as the value of an option it ends at `;` or `{} +`. `shell`: text that a shell runs.
 * - `script`: a file that runs as a program. `variable`: a variable of the shell that is set. `assignment`: `NAME=value`. `placeholder`: is replaced by what is added.
 * - `revision`: a revision of git, in which a file may be named. `pathspec`: files of a repository, with wildcards that git reads.
 * - `ref`: the name of a branch, tag or remote of git that is made, moved or deleted. `remote`: a remote of git by its name. `origin`: a repository by its URL or folder.
 * - `pretty`: a format of git in which no signature is verified. `setting`: the name of a setting of git that holds no secret.
 * - `printf`: a format of `printf`. `shelloption`: an option of the shell that does not change how a line is read.
 * - `sed`, `awk`, `jq`: a script of that program, which may do no more than print and change text.
 * - `package`: the name of a package with or without a version, no address and no folder. `target`: a target of a builder, which sets no variable.
 * - `module`: the name of a module that runs; what follows are its arguments.
 * - `folder`: a folder in the workspace in which the program works. `workspace`: a package of this project, by its name or folder.
 * - `archive`: a file of this machine, without a host before a colon; it is read if one of the options in `needs` is given, else written.
 * - `format`: text that begins with a plus.
 */
export type WordKind =
  | "text"
  | "plain"
  | "argument"
  | "number"
  | "read"
  | "look"
  | "write"
  | "into"
  | "link"
  | "symlink"
  | "host"
  | "data"
  | "command"
  | "shell"
  | "script"
  | "variable"
  | "assignment"
  | "placeholder"
  | "revision"
  | "pathspec"
  | "ref"
  | "remote"
  | "origin"
  | "pretty"
  | "printf"
  | "shelloption"
  | "setting"
  | "sed"
  | "awk"
  | "jq"
  | "package"
  | "target"
  | "module"
  | "folder"
  | "workspace"
  | "archive"
  | "format";

/**
 * The files that a program deletes or overwrites.
 * - `none`: it makes files, or changes their properties.
 * - `files`: files among those that it writes. It leaves folders as they are.
 * - `trees`: the same, and folders with all that is in them. A folder `into` which files go keeps its others.
 * - `contents`: the same, and such a folder keeps none.
 * - `tracked`: as `trees`, but nothing that git ignores.
 */
export type Destruction = "none" | "files" | "trees" | "contents" | "tracked";

/** Spellings of options by the kind of their value. */
export type SpellingsByKind = { readonly [kind in WordKind]?: string };

/** The words that a program understands, as data. Lists are separated by white space; options are spelled with their dashes. */
export interface ProgramForm {
  /** Options without a value, by their exact spellings: `-l -a --all`. Single letters may be clustered. `+x` and words such as `!` are options, too. */
  readonly flags?: string;
  /** Options with a value, which is attached (`-n5`, `--lines=5`) or the next word. */
  readonly values?: SpellingsByKind;
  /** Options whose value may be left out and is only ever attached: `--color=auto`, `-M50`. */
  readonly optional?: SpellingsByKind;
  /** Options with several values, which are the next words, by the kinds of these: `{ "plain read": "--slurpfile" }`. */
  readonly pairs?: { readonly [kinds: string]: string };
  /** Operands of the form `name=value`, by name: `if of` of `dd`. */
  readonly keys?: SpellingsByKind;
  /** `-20` is understood as a number. */
  readonly numbers?: boolean;
  /** Options are words behind one dash, as those of `find` and `go`: `-name x`, `-run=x`. No letters are clustered. */
  readonly singleDash?: boolean;
  /** The first word may be a cluster of options without a dash: `tar tzf`. */
  readonly dashless?: boolean;
  /** Kinds of operands in their order; one that ends with `...` repeats: `text read...`, `read... into`. Absent: no operand is understood. */
  readonly operands?: string;
  /** Kinds of operands if one of these options is given: `{ "-i --in-place": "sed write..." }`. The first that fits holds. */
  readonly operandsWith?: { readonly [options: string]: string };
  /** Options that replace the first operand: `-e -f` of `grep`, which give the pattern. */
  readonly given?: string;
  /** Kinds of the words after `--`, if they are not operands: arguments for another program, mostly `plain...`. */
  readonly rest?: string;
  /** Options that are understood among the words of `rest`, in full. */
  readonly restFlags?: string;
  /** The first operand ends the options. Forms with a `command` among their operands need not say so. */
  readonly stops?: boolean;
  /** Words that make it only print something about itself, if they are the only argument: `--version --help`. They run unasked. */
  readonly alone?: string;
  /** It changes nothing and connects to nothing, so that it runs unasked. Otherwise the form only says what a wildcard of a rule covers. */
  readonly unasked?: boolean;
  /** Options among those above with which it does not run unasked: `-i` of `sed`. */
  readonly asks?: string;
  /** Options of which one must be given for it to run unasked: `-t` of `tar`. */
  readonly needs?: string;
  /** True if no added or computed argument makes it do more: `echo`. */
  readonly anything?: boolean;
  /** It goes through the folders that it is given: always, or with one of these options. */
  readonly recurses?: true | string;
  /** It follows links when it goes through a folder: always, or with one of these options. */
  readonly follows?: true | string;
  /** Files and folders whose names begin with a dot are left out when it goes through a folder, without one of these options. */
  readonly skipsHidden?: string;
  /** Options with patterns of names: only files with such a name are read when it goes through a folder. */
  readonly only?: string;
  /** Options under which those patterns may not hold: `-o` of `find`. */
  readonly onlyUnless?: string;
  /** Its access to the folder it runs in and to all below it, if no operand names a file or folder, or `always`. With a list of options: only with one of them. */
  readonly here?: { readonly kind: "read" | "look" | "write"; readonly with?: string; readonly always?: boolean };
  /** The files that it deletes or overwrites. Absent: its words do not say. */
  readonly destroys?: Destruction;
  /** The same if one of these options is given. The first that fits holds. */
  readonly destroysWith?: { readonly [options: string]: Destruction };
  /** It is there to delete, always or with one of these options: with words that are not understood it may delete anything. */
  readonly deletes?: true | string;
  /** Subcommands by their names: `"install i"`. Options of this form precede them, those of the subcommand follow. */
  readonly subcommands?: { readonly [names: string]: ProgramForm };
}

export interface ProgramEntry extends ProgramForm {
  /** Names of the program, separated by blanks. */
  readonly names: string;
  /** Numbers of versions may be appended to the names: `python3.12`. */
  readonly versions?: boolean;
  /** Its command gets more arguments than are written: names of files that it found, or words of its input. */
  readonly adds?: "found" | "input";
  /** True if the shell itself has it: a path never leads to it. */
  readonly builtin?: boolean;
  /** True if it obeys the settings of the git repository around its folder, so that these are read before it runs unasked. */
  readonly repository?: boolean;
  /** True if it runs its input as code without an operand. */
  readonly runsInput?: boolean;
  /** True if the texts that it runs are read by another shell than bash. */
  readonly posix?: boolean;
}
