export { checkOptionNames, optionHint, type OptionNames, unknownOption } from "@keelson/protocol";
