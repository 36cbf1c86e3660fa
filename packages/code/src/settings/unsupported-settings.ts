/** A setting of Claude Code that has no counterpart here. */
export interface UnsupportedSetting {
  readonly reason: string;
  /** True if it confines an agent there. */
  readonly isGuard?: true;
}

const TERMINAL = "it shapes the terminal of Claude Code";
const PLUGINS = "plugins of Claude Code are not supported: copy their skills and commands into .claude or .keelson";
const ACCOUNT = "it is about the account with Claude Code: keelson doctor says how a key is given here";
const KEY = "no program is run for a key from this file: name it in keys.json of the home folder of Keelson, as keelson doctor says";
const SERVERS = "a server of .mcp.json starts if you trust it: keelson trust accept .mcp.json";
const UPDATES = "Keelson does not update itself";

/** The settings of Claude Code that are known and not used, with the reason and what to do instead. */
export const UNSUPPORTED_SETTINGS: { readonly [name: string]: UnsupportedSetting } = {
  agent: { reason: "agents of Claude Code are not supported" },
  allowManagedHooksOnly: { reason: "it is not supported: hooks of a repository run only if you trust them", isGuard: true },
  allowManagedPermissionRulesOnly: { reason: "it is not supported: rules of policy.json and options add up", isGuard: true },
  allowedMcpServers: { reason: "it is not supported: servers of a repository start only if you trust them", isGuard: true },
  alwaysThinkingEnabled: { reason: "models think as their effort says: use --effort, or the setting effort" },
  apiKeyHelper: { reason: KEY },
  attribution: { reason: "say in AGENTS.md how commits are to be signed" },
  autoMemoryEnabled: { reason: "Keelson writes no memory of its own" },
  autoUpdates: { reason: UPDATES },
  autoUpdatesChannel: { reason: UPDATES },
  availableModels: { reason: "it is not supported: use --model", isGuard: true },
  awsAuthRefresh: { reason: KEY },
  awsCredentialExport: { reason: KEY },
  blockedMarketplaces: { reason: PLUGINS },
  claudeMdExcludes: { reason: "it is not supported: trust only the files that you want, with keelson trust accept" },
  cleanupPeriodDays: { reason: "sessions are kept: keelson sessions prune --older-than 30d deletes them" },
  companyAnnouncements: { reason: TERMINAL },
  deniedMcpServers: { reason: "it is not supported: deny the tools of a server with a rule such as mcp__name", isGuard: true },
  disabledMcpjsonServers: { reason: `it is not supported: ${SERVERS}; deny the tools of a server with a rule such as mcp__name` },
  editorMode: { reason: "the editor has one set of keys, which /help lists" },
  enableAllProjectMcpServers: { reason: SERVERS },
  enabledMcpjsonServers: { reason: SERVERS },
  enabledPlugins: { reason: PLUGINS },
  extraKnownMarketplaces: { reason: PLUGINS },
  fastMode: { reason: "it is not supported" },
  feedbackSurveyRate: { reason: TERMINAL },
  fileSuggestion: { reason: TERMINAL },
  forceLoginMethod: { reason: ACCOUNT },
  forceLoginOrgUUID: { reason: ACCOUNT },
  gcpAuthRefresh: { reason: KEY },
  includeCoAuthoredBy: { reason: "say in AGENTS.md how commits are to be signed" },
  includeGitInstructions: { reason: "the agent is told branch and status once, at the start of a session" },
  language: { reason: "say in AGENTS.md of the home folder of Keelson in which language the agent responds" },
  otelHeadersHelper: { reason: "telemetry is set up by programs that use the library" },
  outputStyle: { reason: "it is not supported: say in AGENTS.md how the agent responds, or use --append-system-prompt" },
  plansDirectory: { reason: "it is not supported" },
  pluginConfigs: { reason: PLUGINS },
  prefersReducedMotion: { reason: TERMINAL },
  respectGitignore: { reason: TERMINAL },
  sandbox: {
    reason: "commands run in a sandbox of Keelson, if one can be made; policy.json of the home folder of Keelson says what they may touch",
    isGuard: true,
  },
  showTurnDuration: { reason: TERMINAL },
  skipDangerousModePermissionPrompt: { reason: "a project is used as far as you trust it: keelson trust" },
  spinnerTipsEnabled: { reason: TERMINAL },
  spinnerTipsOverride: { reason: TERMINAL },
  spinnerVerbs: { reason: TERMINAL },
  statusLine: { reason: TERMINAL },
  strictKnownMarketplaces: { reason: PLUGINS },
  strictPluginOnlyCustomization: { reason: PLUGINS },
  teammateMode: { reason: TERMINAL },
  terminalProgressBarEnabled: { reason: TERMINAL },
  tui: { reason: TERMINAL },
  verbose: { reason: TERMINAL },
  viewMode: { reason: TERMINAL },
  voiceEnabled: { reason: TERMINAL },
  worktree: { reason: "it is not supported: use --worktree" },
};
