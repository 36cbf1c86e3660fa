export { checkOptionNames, meantOption, type OptionNames } from "@keelson/protocol";
