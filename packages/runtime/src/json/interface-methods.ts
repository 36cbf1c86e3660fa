import type {
  BlobStore,
  BudgetLedger,
  Embedder,
  EventLog,
  InferRequest,
  Executor,
  JobRequest,
  Jobs,
  LogIndex,
  Orchestrator,
  Provider,
  SecretResolver,
  StateReader,
  StateStore,
  Vfs,
} from "@keelson/protocol";
import type { MethodOptions } from "./check-method-options.ts";
import type { OptionNames } from "./option-names.ts";
import { BOUND_OPTION, FLAG_OPTION } from "./option-rules.ts";

// Options of the methods of the protocol's interfaces. The implementations of this library refuse others; those of users are not checked.

export const EVENT_LOG_METHODS: MethodOptions<EventLog> = {
  append: [3, { epoch: true, durability: true, summary: true, texts: true, at: true }],
  read: [1, { after: true, follow: FLAG_OPTION, signal: true }, "throws"],
  list: [0, { prefix: true, after: true, limit: true }],
  seal: [1, { before: true, signal: true }],
  acquire: [1, { owner: true, ttlMs: true }],
};

export const LOG_INDEX_METHODS: MethodOptions<LogIndex> = { search: [1, { limit: true, offset: true, log: true }] };

export const BLOB_STORE_METHODS: MethodOptions<BlobStore> = { get: [1, { start: true, end: true }], delete: [1, { putUpTo: true }] };

export const STATE_READER_METHODS: MethodOptions<StateReader> = {
  list: [2, { after: true, limit: true }],
  search: [2, { limit: true, minScore: true, contentKind: true, tier: true, signal: true }],
};

export const STATE_STORE_METHODS: MethodOptions<StateStore> = {
  ...STATE_READER_METHODS,
  write: [3, { ifVersion: true, ttlMs: true, tier: true, lifetime: true, contentKind: true, salience: true, metadata: true }],
};

export const BUDGET_LEDGER_METHODS: MethodOptions<BudgetLedger> = {
  reserve: [3, { owner: true, inTurn: FLAG_OPTION }],
  changed: [1, { signal: true, key: true }],
};

export const VFS_METHODS: MethodOptions<Vfs> = {
  ls: [1, { signal: true }],
  stat: [1, { signal: true }],
  read: [1, { signal: true }],
  readPart: [1, { start: true, end: true, signal: true }],
  write: [2, { signal: true, ifUnchanged: true }],
  edit: [3, { signal: true }],
  grep: [
    1,
    {
      path: true,
      afterContext: BOUND_OPTION,
      beforeContext: BOUND_OPTION,
      context: true,
      caseInsensitive: FLAG_OPTION,
      glob: true,
      fileType: true,
      maxMatches: true,
      outputMode: true,
      multiline: FLAG_OPTION,
      lineNumbers: FLAG_OPTION,
      invert: FLAG_OPTION,
      fixedString: FLAG_OPTION,
      gitignore: FLAG_OPTION,
      leaveOut: true,
      mayRead: true,
      onOmitted: true,
      signal: true,
    },
  ],
  glob: [1, { path: true, limit: true, gitignore: FLAG_OPTION, leaveOut: true, mayRead: true, onOmitted: true, signal: true }],
  upload: [2, { signal: true }],
  download: [2, { signal: true }],
  rm: [1, { signal: true, recursive: FLAG_OPTION }],
  cp: [2, { signal: true }],
  mv: [2, { signal: true }],
};

const PROGRAM = {
  cwd: true,
  env: true,
  inheritEnv: FLAG_OPTION,
  stdin: true,
  timeoutMs: true,
  maxOutputBytes: true,
  signal: true,
  cancelGraceMs: BOUND_OPTION,
  judgeHost: true,
  mayReveal: true,
};

const JOB: OptionNames<JobRequest> = { ...PROGRAM, command: true, program: true, args: true, blobs: true, pty: true };

export const EXECUTOR_METHODS: MethodOptions<Executor> = {
  execute: [0, { ...JOB, reportsDirectory: FLAG_OPTION, onStart: true, onOutput: true }],
  pipeline: [1, { ...PROGRAM, onOutput: true }],
};

export const JOBS_METHODS: MethodOptions<Jobs> = {
  start: [0, JOB],
  poll: [1, { after: true, maxBytes: BOUND_OPTION, waitMs: true, signal: true }],
};

const DISPATCH = { id: true, parent: true, parentSession: true, deadline: true, authority: true, signal: true };

export const ORCHESTRATOR_METHODS: MethodOptions<Orchestrator> = { start: [2, DISPATCH], dispatch: [2, DISPATCH] };

const REQUEST: OptionNames<InferRequest> = {
  model: true,
  system: true,
  messages: true,
  tools: true,
  toolChoice: true,
  maxTokens: true,
  temperature: true,
  topP: true,
  stopSequences: true,
  effort: true,
  thinking: true,
  output: true,
  cache: true,
  extra: true,
};

export const PROVIDER_METHODS: MethodOptions<Provider> = {
  stream: [
    [0, REQUEST, "throws"],
    [1, { signal: true, idempotencyKey: true, conversation: true, resendLost: true }, "throws"],
  ],
  listModels: [0, { signal: true }],
};

export const EMBEDDER_METHODS: MethodOptions<Embedder> = { embed: [1, { signal: true, dimensions: true, purpose: true }] };

export const SECRET_RESOLVER_METHODS: MethodOptions<SecretResolver> = { resolve: [1, { signal: true }] };
