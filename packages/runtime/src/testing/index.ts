export { scriptedModel, type ScriptedAnswer, type ScriptedModel, type ScriptedModelOptions, type ScriptedTurn } from "./scripted-model.ts";
