// Loaded before `npm start`: a Node that cannot run TypeScript gets one clear line instead of an error about a file extension.
if (!process.features.typescript) {
  process.stderr.write(
    `keelson: this is Node ${process.versions.node}, which does not run TypeScript. Run npm ci: it installs Node 24 for npm start.\n`,
  );
  process.exit(1);
}
