// Made by tools/refresh-prices.ts from the data of @pydantic/genai-prices (MIT), which reads the vendors' public price pages.

/** The day the prices were read. */
export const PRICES_AS_OF = "2026-09-23";

/**
 * By vendor: `@vendor|batch factor`, then a line for each model: names (`*` stands for any text)|context window|input|output|
 * cache read|cache write|longer than:input,output,cache read,cache write. US dollars per million tokens.
 */
export const PRICES = `
@anthropic|0.5
claude-2* *claude-v2*|200000|8|24
claude-3-5-haiku* claude-3.5-haiku*|200000|0.8|4|0.08|1
claude-3-5-sonnet* claude-3.5-sonnet*|200000|3|15|0.3|3.75
claude-3-7-sonnet* claude-3.7-sonnet* claude-sonnet-3.7* claude-sonnet-3-7*|200000|3|15|0.3|3.75
claude-3-haiku*|200000|0.25|1.25|0.03|0.3
claude-3-opus*|200000|15|75|1.5|18.75
claude-3-sonnet*|200000|3|15|0.3|3.75
claude-fable-5|1000000|10|50|1|12.5
claude-fable-5-1|1000000|10|50|0.25|12.5
claude-haiku-4-5* claude-haiku-4.5* claude-4-5-haiku* claude-4.5-haiku*|200000|1|5|0.1|1.25
claude-opus-4-0* claude-4-opus* claude-opus-4 claude-opus-4-20250514|200000|15|75|1.5|18.75
claude-opus-4-1* claude-opus-4.1*|200000|15|75|1.5|18.75
claude-opus-4-5* claude-opus-4.5* claude-4-5-opus* claude-4.5-opus*|200000|5|25|0.5|6.25
claude-opus-4-6* claude-opus-4.6* claude-4-6-opus* claude-4.6-opus*|1000000|5|25|0.5|6.25
claude-opus-4-7* claude-opus-4.7* claude-4-7-opus* claude-4.7-opus*|1000000|5|25|0.5|6.25
claude-opus-4-8* claude-opus-4.8* claude-4-8-opus* claude-4.8-opus*|1000000|5|25|0.5|6.25
claude-opus-5 claude-opus-5.0* claude-5-opus* claude-5.0-opus*|1000000|5|25|0.5|6.25
claude-opus-5-5 claude-opus-5.5* claude-5-5-opus* claude-5.5-opus*|1000000|4|20|0.2|5
claude-sonnet-4-2025* claude-sonnet-4-0* claude-sonnet-4@* claude-sonnet-4 claude-4-sonnet*|200000|3|15|0.3|3.75
claude-sonnet-4-5* claude-sonnet-4.5*|200000|3|15|0.3|3.75|200000:6,22.5,0.6,7.5
claude-sonnet-4-6* claude-sonnet-4.6*|1000000|3|15|0.3|3.75
claude-sonnet-5* claude-5-sonnet* claude-5.0-sonnet*|1000000|2|10|0.2|2.5
claude-v1||8|24
@openai|0.5
ada text-ada-001||0.4|0.4
babbage||0.5|0.5
chatgpt-4o-latest|128000|5|15
codex-mini codex-mini-latest|200000|1.5|6|0.375
computer-use*|8192|3|12
curie text-curie-001||2|2
davinci text-davinci-001||20|20
ft:gpt-3.5-turbo*||3|6
ft:gpt-4o ft:gpt-4o-2024-*||3.75|15
ft:gpt-4o-mini ft:gpt-4o-mini-2024-*||0.3|1.2
gpt-3.5-0301 gpt-3.5-turbo-0301||1.5|2
gpt-3.5-turbo gpt-35-turbo gpt-3.5-turbo-0125|16385|0.5|1.5
gpt-3.5-turbo-0613|16385|1.5|2
gpt-3.5-turbo-1106|16385|1|2
gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613 gpt-35-turbo-16k-0613 gpt-35-turbo-16k|16385|3|4
gpt-3.5-turbo-instruct*|16385|1.5|2
gpt-4 gpt-4-0314 gpt-4-0613 ft:gpt-4-0*|8192|30|60
gpt-4-32k gpt-4-32k-0314 gpt-4-32k-0613|32000|60|120
gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-turbo-0125-preview gpt-4-0125-preview gpt-4-1106-preview gpt-4-turbo-preview|128000|10|30
gpt-4-vision-preview gpt-4-1106-vision-preview|128000|10|30
gpt-4.1 gpt-4.1-2025-04-14|1000000|2|8|0.5
gpt-4.1-mini gpt-4.1-mini-2025-04-14|1000000|0.4|1.6|0.1
gpt-4.1-nano gpt-4.1-nano-2025-04-14|1000000|0.1|0.4|0.025
gpt-4.5-preview*||75|150|37.5
gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20|128000|2.5|10|1.25
gpt-4o-2024-05-13|128000|5|15
gpt-4o-audio-preview*|128000|2.5|10
gpt-4o-mini gpt-4o-mini-2024-07-18 gpt-4o-mini-search-preview gpt-4o-mini-search-preview-2025-03-11|128000|0.15|0.6|0.075
gpt-4o-mini-2024-07-18.ft-*||0.3|1.2
gpt-4o-mini-audio*|128000|0.15|0.6
gpt-4o-mini-realtime*|16000|0.6|2.4|0.3
gpt-4o-mini-transcribe|16000|1.25|5
gpt-4o-mini-tts||0.6|12
gpt-4o-realtime*|32000|5|20|2.5
gpt-4o-search-preview gpt-4o-search-preview-2025-03-11|128000|2.5|10
gpt-4o-transcribe gpt-4o-transcribe-diarize|16000|2.5|10
gpt-4o:extended||6|18
gpt-5 gpt-5-2025-08-07 gpt-5-chat gpt-5-chat-latest gpt-5-codex|400000|1.25|10|0.125
gpt-5-image||10|10|1.25
gpt-5-image-mini||2.5|2|0.25
gpt-5-mini gpt-5-mini-2025-08-07|400000|0.25|2|0.025
gpt-5-nano gpt-5-nano-*|400000|0.05|0.4|0.005
gpt-5-pro gpt-5-pro-2025-10-06|400000|15|120
gpt-5.1 gpt-5.1-2025-11-13 gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-chat gpt-5.1-chat-latest gpt-5-1 gpt-5-1-2025-11-13 gpt-5-1-codex gpt-5-1-codex-max gpt-5-1-chat gpt-5-1-chat-latest|400000|1.25|10|0.125
gpt-5.1-codex-mini gpt-5.1-mini gpt-5-1-codex-mini gpt-5-1-mini|400000|0.25|2|0.025
gpt-5.2 gpt-5.2-2025-12-11 gpt-5-2 gpt-5-2-2025-12-11 gpt-5.2-chat gpt-5.2-chat-latest gpt-5-2-chat gpt-5-2-chat-latest gpt-5.2-codex gpt-5-2-codex|400000|1.75|14|0.175
gpt-5.2-pro gpt-5.2-pro-2025-12-11 gpt-5-2-pro-2025-12-11|400000|21|168
gpt-5.3 gpt-5-3 gpt-5.3-chat gpt-5.3-chat-latest gpt-5-3-chat gpt-5-3-chat-latest|128000|1.75|14|0.175
gpt-5.3-codex gpt-5-3-codex|400000|1.75|14|0.175
gpt-5.4 gpt-5.4-2026-03-05 gpt-5-4 gpt-5-4-2026-03-05|1050000|2.5|15|0.25||271999:5,22.5,0.5,
gpt-5.4-image-2||8|15|2
gpt-5.4-mini gpt-5.4-mini-2026-03-17 gpt-5-4-mini gpt-5-4-mini-2026-03-17|400000|0.75|4.5|0.075
gpt-5.4-nano gpt-5.4-nano-2026-03-17 gpt-5-4-nano gpt-5-4-nano-2026-03-17|400000|0.2|1.25|0.02
gpt-5.4-pro gpt-5.4-pro-2026-03-05 gpt-5-4-pro gpt-5-4-pro-2026-03-05|1050000|30|180|||271999:60,270,,
gpt-5.5 gpt-5.5-2026-04-23 gpt-5.5-2026-04-24 gpt-5-5 gpt-5-5-2026-04-23 gpt-5-5-2026-04-24 gpt-5.5-chat gpt-5.5-chat-latest gpt-5-5-chat gpt-5-5-chat-latest gpt-5.5-codex gpt-5-5-codex|1000000|5|30|0.5||271999:10,45,1,
gpt-5.5-pro gpt-5.5-pro-2026-04-23 gpt-5-5-pro gpt-5-5-pro-2026-04-23|1000000|30|180|||271999:60,270,,
gpt-5.6-luna gpt-5-6-luna|1050000|0.2|1.2|0.02|0.25|271999:0.4,1.8,0.04,0.5
gpt-5.6-sol gpt-5-6-sol gpt-5.6 gpt-5-6|1050000|4|20|0.4|5|271999:8,30,0.8,10
gpt-5.6-terra gpt-5-6-terra|1050000|2|12|0.2|2.5|271999:4,18,0.4,5
gpt-6-astra|1050000|10|50|1|12.5|271999:20,75,2,25
gpt-6-luna|1050000|0.1|0.5|0.01|0.125|272000:0.2,0.75,0.02,0.25
gpt-6-sol|1050000|2|10|0.2|2.5|272000:4,15,0.4,5
gpt-audio gpt-audio-2025-08-28 gpt-audio-1.5|128000|2.5|10
gpt-audio-mini gpt-audio-mini-2025-10-06 gpt-audio-mini-2025-12-15|128000|0.6|2.4
gpt-chat-latest||5|30|0.5
gpt-image-1||5|40|1.25
gpt-image-1-mini||2|8|0.2
gpt-image-1.5 gpt-image-1.5-2025-12-16||5|10|1.25
gpt-image-2 gpt-image-2-2026-04-21||5|30|1.25
gpt-realtime gpt-realtime-2025-08-28 gpt-realtime-1.5|32000|4|16|0.4
gpt-realtime-2 gpt-realtime-2.1|128000|4|24|0.4
gpt-realtime-mini gpt-realtime-2.1-mini gpt-realtime-mini-2025-12-15 gpt-realtime-mini-2025-10-06||0.6|2.4|0.06
o1 o1-2024-12-17|200000|15|60|7.5
o1-mini o1-mini-2024-09-12|128000|1.1|4.4|0.55
o1-preview o1-preview-2024-09-12|128000|15|60|7.5
o1-pro o1-pro-2025-03-19|200000|150|600
o3 o3-2025-04-16|200000|2|8|0.5
o3-deep-research o3-deep-research-2025-06-26|200000|10|40|2.5
o3-mini o3-mini-2025-01-31 o3-mini-high|200000|1.1|4.4|0.55
o3-pro o3-pro-2025-06-10|200000|20|80
o4-mini o4-mini-2025-04-16 o4-mini-high|200000|1.1|4.4|0.275
o4-mini-deep-research o4-mini-deep-research-2025-06-26|200000|2|8|0.5
text-davinci-002||20|20
text-davinci-003||20|20
text-embedding-3-large|8192|0.13
text-embedding-3-small|8192|0.02
text-embedding-ada-002 text-embedding-ada text-embedding-ada-002-v2|8192|0.1
@gemini|0.5
gemini-1.0-pro-vision-001|32768|0.125|0.375
gemini-1.5-flash *gemini-1.5-flash*|1000000|0.075|0.3|0.01875||128000:0.15,0.6,0.0375,
gemini-1.5-pro *gemini-1.5-pro*|1000000|1.25|5|||128000:2.5,10,,
gemini-2.0-flash *gemini-2.0-flash *gemini-2.0-flash-0* *gemini-2.0-flash-exp* *gemini-2.0-flash-thinking* *gemini-2.0-flash-latest*|1000000|0.1|0.4|0.025
gemini-2.0-flash-lite *gemini-2.0-flash-lite*|1000000|0.075|0.3
gemini-2.5-flash gemini-2.5-flash-latest gemini-2.5-flash-preview-09-2025|1048576|0.3|2.5|0.03
gemini-2.5-flash-image gemini-2.5-flash-image-preview|1000000|0.3|2.5
gemini-2.5-flash-lite gemini-2.5-flash-lite-preview*|1000000|0.1|0.4|0.01
gemini-2.5-flash-lite-preview-tts|8192|0.5|10
gemini-2.5-flash-preview *gemini-2.5-flash-preview-05-20* *gemini-2.5-flash-preview-04-17* gemini-2.5-flash-preview-05-20:thinking gemini-2.5-flash-preview:thinking||0.15|0.6
gemini-2.5-flash-tts gemini-2.5-flash-preview-tts|8192|0.5|10
gemini-2.5-pro*||1.25|10|0.125||200000:2.5,15,0.25,
gemini-2.5-pro-tts gemini-2.5-pro-preview-tts|8192|1|20
gemini-3-flash-preview gemini-3-flash-preview-*|1000000|0.5|3|0.05
gemini-3-pro-image gemini-3-pro-image-preview*|1000000|2|12
gemini-3-pro-preview* gemini-3-pro-text-preview||2|12|0.2||200000:4,18,0.4,
gemini-3.1-flash-image gemini-3.1-flash-image-preview*|1000000|0.5|3
gemini-3.1-flash-lite gemini-3.1-flash-lite-preview*|1000000|0.25|1.5|0.025
gemini-3.1-flash-lite-image*||0.25|1.5
gemini-3.1-flash-live-preview*||0.75|4.5
gemini-3.1-pro-preview*||2|12|0.2||200000:4,18,0.4,
gemini-3.5-flash gemini-3.5-flash-*|1000000|1.5|9|0.15
gemini-3.5-flash-lite*|1000000|0.3|2.5|0.03
gemini-3.6-flash*|1000000|0.75|3.75|0.075
gemini-3.7-flash*|1000000|0.75|3.75|0.075
gemini-3.8-flash*|1000000|0.75|3.75|0.075
gemini-embedding-001||0.15
gemini-embedding-2|8192|0.2
gemini-flash-1.5||0.075|0.3|0.01875||128000:0.15,0.6,0.0375,
gemini-flash-1.5-8b|1000000|0.0375|0.15|0.01||128000:0.075,0.3,0.02,
gemini-live-2.5-flash* gemini-2.5-flash-native-audio-preview* gemini-2.5-flash-native-audio-latest||0.5|2
gemini-omni-flash-preview*||1.5|9
gemini-pro gemini-1.0-pro|32768|0.125|0.375
gemini-pro-1.5|2000000|1.25|5|0.3125||128000:2.5,10,0.625,
gemma-2-27b-it||0.65|0.65
gemma-4-26b-a4b-it-maas|262144|0.15|0.6|0.015
@xai|
grok-2-1212 grok-2 grok-2-latest|32768|2|10
grok-2-vision-1212 grok-2-vision grok-2-vision-latest|32768|2|10
grok-3 grok-3-latest grok-3-beta|131072|3|15|0.75
grok-3-fast grok-3-fast-latest grok-3-fast-beta|131072|5|25|1.25
grok-3-mini grok-3-mini-beta grok-3-mini-latest|131072|0.3|0.5|0.075
grok-3-mini-fast grok-3-mini-fast-beta grok-3-mini-fast-latest|131072|0.6|4|0.15
grok-4-0709 grok-4 grok-4-latest|256000|3|15|0.75
grok-4-1-fast-non-reasoning grok-4-1-fast-non-reasoning-latest|2000000|0.2|0.5|0.05
grok-4-1-fast-reasoning grok-4-1-fast grok-4-1-fast-reasoning-latest|2000000|0.2|0.5|0.05
grok-4-fast-non-reasoning grok-4-fast-non-reasoning-latest|2000000|0.2|0.5|0.05
grok-4-fast-reasoning grok-4-fast grok-4-fast-reasoning-latest|2000000|0.2|0.5|0.05
grok-4.20|1000000|1.25|2.5|0.2||199999:2.5,5,0.4,
grok-4.20-multi-agent|1000000|2|6|0.2
grok-4.3 x-ai/grok-4.3 grok-4.3-latest|1000000|1.25|2.5|0.2||199999:2.5,5,0.4,
grok-4.5 x-ai/grok-4.5 grok-4.5-latest grok-latest|500000|2|6|0.3||199999:4,12,0.6,
grok-4.6 x-ai/grok-4.6 grok-4.6-latest|500000|2|6|0.5||199999:4,12,1,
grok-build-0.1|256000|1|2|0.2||199999:2,4,0.4,
grok-code-fast-1 grok-code-fast grok-code-fast-1-0825|256000|0.2|1.5|0.02
@mistral|0.5
codestral codestral-latest codestral-2501|256000|0.3|0.9
codestral-2508|256000|0.3|0.9|0.03
devstral-2512|262144|0.4|2|0.04
devstral-small devstral-small-2505 devstral-small-2507 devstral-small-latest labs-devstral-small-2512||0.1|0.3
magistral-medium*||2|5
magistral-small magistral-small-*||0.5|1.5
ministral-14b-2512|262144|0.2|0.2|0.02
ministral-3b||0.04|0.04
ministral-3b-2512|131072|0.1|0.1|0.01
ministral-8b ministral-8b-2410||0.1|0.1
ministral-8b-2512|262144|0.15|0.15|0.015
ministral-8b-latest||0.15|0.15|0.015
mistral-7b open-mistral-7b||0.25|0.25
mistral-embed|8192|0.1|0.1
mistral-large mistral-large-latest mistral-large-2407 mistral-large-2411||2|6
mistral-large-2512|262144|0.5|1.5|0.05
mistral-medium-2312||2.7|8.1
mistral-medium-3-1 mistral-medium mistral-medium-2505 mistral-medium-2508||0.4|2|0.04
mistral-medium-3-5 mistral-medium-3.5 mistral-medium-3|262144|1.5|7.5|0.15
mistral-medium-latest||1.5|7.5|0.15
mistral-nemo open-mistral-nemo||0.15|0.15
mistral-saba mistral-saba-latest||0.2|0.6
mistral-small-24b-instruct-2501||0.05|0.08
mistral-small-2603|262144|0.15|0.6|0.015
mistral-small-3.1-24b-instruct||0.351|0.555
mistral-small-3.2-24b-instruct||0.075|0.2
mistral-small-latest||0.1|0.3
mistral-tiny||0.25|0.25
mixtral-8x22b-instruct||0.9|0.9
mixtral-8x7b* open-mixtral-8x7b||0.7|0.7
pixtral-12b pixtral-12b-latest||0.15|0.15
pixtral-large pixtral-large-latest pixtral-large-2411||2|6
voxtral-small-24b-2507 voxtral-small-2507 voxtral-small-latest|32768|0.1|0.4|0.01
@deepseek|
deepseek-chat*|64000|0.27|1.1|0.07
deepseek-reasoner deepseek-r1*|64000|0.55|2.19|0.14
deepseek-v3.1-terminus|128000|0.27|0.95|0.13
deepseek-v3.2|128000|0.2288|0.3432
deepseek-v3.2-exp|128000|0.27|0.41
deepseek-v4-flash*|1000000|0.44|1.32|0.014
deepseek-v4-pro*|1000000|1.32|3.96|0.044
@groq|0.5
deepseek-r1-distill-llama-70b|131072|0.75|0.99
gemma-7b-it||0.07|0.07
gemma2-9b-it gemma2-9b||0.2|0.2
llama-3.1-405b-reasoning||0.59|0.79
llama-3.1-70b-versatile||0.59|0.79
llama-3.1-8b-instant||0.05|0.08
llama-3.2-11b-text-preview||0.18|0.18
llama-3.2-11b-vision-preview||0.18|0.18
llama-3.2-1b-preview||0.04|0.04
llama-3.2-3b-preview||0.06|0.06
llama-3.2-90b-text-preview||0.9|0.9
llama-3.2-90b-vision-preview||0.9|0.9
llama-3.3-70b-specdec||0.59|0.99
llama-3.3-70b-versatile||0.59|0.79
llama-guard-3-8b||0.2|0.2
llama2-70b-4096||0.7|0.8
llama3-70b-8192||0.59|0.79
llama3-8b-8192||0.05|0.08
llama3-groq-70b-8192-tool-use-preview||0.89|0.89
llama3-groq-8b-8192-tool-use-preview||0.19|0.19
meta-llama/llama-4-maverick-17b-128e-instruct|131072|0.2|0.6
meta-llama/llama-4-scout-17b-16e-instruct||0.11|0.34
meta-llama/llama-guard-4-12b|131072|0.2|0.2
mistral-saba-24b||0.79|0.79
mixtral-8x7b-32768||0.24|0.24
moonshotai/kimi-k2-instruct moonshotai/kimi-k2-instruct-0905|131072|1|3|0.5
openai/gpt-oss-120b openai/gpt-oss-safeguard-20b|131072|0.15|0.6|0.075
openai/gpt-oss-20b|131072|0.075|0.3|0.0375
qwen/qwen3-32b|131072|0.29|0.59
@cerebras|
gemma-4-31b cerebras/gemma-4-31b* cerebras:gemma-4-31b*|131072|0.99|1.49
gpt-oss-120b cerebras/gpt-oss-120b* cerebras:gpt-oss-120b*|131072|0.35|0.75
llama-3.3-70b cerebras/llama-3.3-70b* cerebras:llama-3.3-70b*|128000|0.85|1.2
llama3.1-8b cerebras/llama3.1-8b* cerebras:llama3.1-8b*|32768|0.1|0.1
qwen-3-32b cerebras/qwen-3-32b* cerebras:qwen-3-32b*|131072|0.4|0.8
zai-glm-4.7 cerebras/zai-glm-4.7* cerebras:zai-glm-4.7*|131072|2.25|2.75
@cohere|
c4ai-aya-expanse-32b *aya-expanse-32b*|128000|0.5|1.5
c4ai-aya-expanse-8b *aya-expanse-8b*|8192|0.5|1.5
command||1|2
command-a command-a-03-2025||2.5|10
command-light*|4096|0.3|0.6
command-r command-r-08-2024||0.15|0.6
command-r-plus command-r-plus-08-2024||2.5|10
command-r7b command-r7b-12-2024||0.0375|0.15
embed-v4.0|128000|0.12
@moonshot|
kimi-k2||0.57|2.3
kimi-k2-0711-preview|131072|0.6|2.5|0.15
kimi-k2-0905-preview|262144|0.6|2.5|0.15
kimi-k2-thinking|262144|0.6|2.5|0.15
kimi-k2-thinking-turbo|262144|1.15|8|0.15
kimi-k2-turbo*|262144|1.15|8|0.15
kimi-k2.5*|262144|0.6|3|0.1
kimi-k2.6*|262144|0.95|4|0.16
kimi-k2.7-code|262144|0.95|4|0.19
kimi-k2.7-code-highspeed|262144|1.9|8|0.38
kimi-k3|1048576|3|15|0.3
moonshot-v1-128k moonshot-v1-128k-vision-preview|131072|2|5
moonshot-v1-32k moonshot-v1-32k-vision-preview|32768|1|3
moonshot-v1-8k moonshot-v1-8k-vision-preview|8192|0.2|2
@zai|
glm-5.2|1000000|1.4|4.4|0.26
glm-5.3|1000000|1.4|4.4|0.26
glm-5.3-flash|1000000|0.075|0.25|0.015
@minimax|
m2-her|64000|0.3|1.2
minimax-m2 minimax-m2.1 minimax-m2.5|204800|0.3|1.2|0.03|0.375
minimax-m2.1-highspeed *m2.1-highspeed*|204800|0.6|2.4|0.03|0.375
minimax-m2.5-highspeed *m2.5-highspeed*|204800|0.6|2.4|0.03|0.375
minimax-m2.7|204800|0.3|1.2|0.06|0.375
minimax-m2.7-highspeed *m2.7-highspeed*|204800|0.6|2.4|0.06|0.375
minimax-01|1000192|0.2|1.1
minimax-m1||0.4|2.2
minimax-m3|1000000|0.3|1.2|0.06||512000:0.6,2.4,0.12,
@perplexity|
llama-3.1-sonar-large-128k-online||1|1
llama-3.1-sonar-small-128k-online||0.2|0.2
r1-1776||2|8
sonar|128000|1|1
sonar-deep-research|128000|2|8
sonar-pro|200000|3|15
sonar-pro-search||3|15
sonar-reasoning||1|5
sonar-reasoning-pro|128000|2|8
@together|0.5
austism/chronos-hermes-13b||0.3|0.3
gryphe/mythomax-l2-13b||0.3|0.3
nexusflow/nexusraven-v2-13b||0.3|0.3
nousresearch/nous-capybara-7b-v1p9||0.2|0.2
nousresearch/nous-hermes-2-mixtral-8x7b-dpo||0.9|0.9
nousresearch/nous-hermes-2-mixtral-8x7b-sft||0.9|0.9
nousresearch/nous-hermes-2-yi-34b||0.8|0.8
nousresearch/nous-hermes-llama2-13b||0.225|0.225
nousresearch/nous-hermes-llama-2-7b||0.2|0.2
open-orca/mistral-7b-openorca||0.2|0.2
qwen/qwen1.5-0.5b qwen/qwen1.5-0.5b-chat||0.1|0.1
qwen/qwen1.5-1.8b qwen/qwen1.5-1.8b-chat||0.1|0.1
qwen/qwen1.5-14b qwen/qwen1.5-14b-chat||0.3|0.3
qwen/qwen1.5-4b qwen/qwen1.5-4b-chat||0.1|0.1
qwen/qwen1.5-72b||0.9|0.9
qwen/qwen1.5-7b qwen/qwen1.5-7b-chat||0.2|0.2
undi95/remm-slerp-l2-13b||0.3|0.3
undi95/toppy-m-7b||0.2|0.2
wizardlm/wizardlm-13b-v1.2||0.3|0.3
allenai/olmo-7b allenai/olmo-7b-instruct allenai/olmo-7b-twin-2t||0.2|0.2
codellama/codellama-13b-instruct-hf||0.225|0.225
codellama/codellama-34b-instruct-hf||0.776|0.776
codellama/codellama-70b-instruct-hf||0.9|0.9
codellama/codellama-7b-instruct-hf||0.2|0.2
deepseek-ai/deepseek-coder-33b-instruct||0.8|0.8
garage-baind/platypus2-70b-instruct||0.9|0.9
google/gemma-2b google/gemma-2b-it||0.1|0.1
google/gemma-7b google/gemma-7b-it||0.2|0.2
lmsys/vicuna-13b-v1.5||0.3|0.3
lmsys/vicuna-7b-v1.5||0.2|0.2
meta-llama/llama-2-13b-chat-hf||0.225|0.225
meta-llama/llama-2-70b-chat-hf||0.9|0.9
meta-llama/llama-2-7b-chat-hf||0.2|0.2
meta-llama/llama-3-70b-chat-hf||0.9|0.9
meta-llama/llama-3-8b-chat-hf||0.2|0.2
meta-llama/llama-3.3-70b-instruct-turbo||0.88|0.88
meta-llama/llama-4-maverick-17b-128e-instruct-fp8||0.27|0.85
meta-llama/llama-4-scout-17b-16e-instruct||0.18|0.59
meta-llama/meta-llama-3-70b-instruct-lite||0.54|0.54
meta-llama/meta-llama-3-70b-instruct-turbo||0.88|0.88
meta-llama/meta-llama-3-8b-instruct-lite||0.1|0.1
meta-llama/meta-llama-3-8b-instruct-turbo||0.18|0.18
meta-llama/meta-llama-3.1-405b-instruct-turbo||3.5|3.5
meta-llama/meta-llama-3.1-70b-instruct-turbo||0.88|0.88
meta-llama/meta-llama-3.1-8b-instruct-turbo||0.18|0.18
meta-llama/meta-llama-3.3-70b-instruct-turbo||0.88|0.88
microsoft/wizardlm-2-8x22b||1.2|1.2
microsoft/phi-2||0.1|0.1
mistralai/mistral-7b-instruct-v0.1||0.2|0.2
mistralai/mistral-7b-instruct-v0.2||0.2|0.2
mistralai/mistral-7b-v0.1||0.2|0.2
mistralai/mixtral-8x22b-instruct-v0.1||2.4|2.4
mistralai/mixtral-8x7b-instruct-v0.1||0.9|0.9
mistralai/mixtral-8x7b-v0.1||0.9|0.9
openchat/openchat-3.5-1210||0.2|0.2
snorkelai/snorkel-mistral-pairrm-dpo||0.2|0.2
teknium/openhermes-2-mistral-7b||0.2|0.2
teknium/openhermes-2p5-mistral-7b||0.2|0.2
togethercomputer/gpt-jt-moderation-6b||0.2|0.2
togethercomputer/llama-2-7b-32k-instruct||0.2|0.2
togethercomputer/redpajama-incite-7b-base||0.2|0.2
togethercomputer/redpajama-incite-7b-chat||0.2|0.2
togethercomputer/redpajama-incite-7b-instruct||0.2|0.2
togethercomputer/redpajama-incite-base-3b-v1||0.1|0.1
togethercomputer/redpajama-incite-chat-3b-v1||0.1|0.1
togethercomputer/redpajama-incite-instruct-3b-v1||0.1|0.1
togethercomputer/stripedhyena-hessian-7b||0.2|0.2
togethercomputer/stripedhyena-nous-7b||0.2|0.2
togethercomputer/alpaca-7b||0.2|0.2
upstage/solar-10.7b-instruct-v1.0||0.3|0.3
zero-one-ai/yi-34b||0.8|0.8
zero-one-ai/yi-6b||0.2|0.2
@fireworks|0.5
deepseek-r1-0528 accounts/fireworks/models/deepseek-r1-0528|160000|3|8
deepseek-v3-0324 accounts/fireworks/models/deepseek-v3-0324|160000|0.9|0.9
deepseek-v3p2 accounts/fireworks/models/deepseek-v3p2|163840|0.56|1.68|0.28
deepseek-v4-flash accounts/fireworks/models/deepseek-v4-flash accounts/fireworks/models/deepseek-v4-flash-0731|1040000|0.14|0.28|0.028
deepseek-v4-pro accounts/fireworks/models/deepseek-v4-pro|1048576|1.74|3.48|0.145
gemma-3-27b-it accounts/fireworks/models/gemma-3-27b-it|131000|0.1|0.1
glm-4p7 accounts/fireworks/models/glm-4p7|202752|0.6|2.2
glm-5p1 accounts/fireworks/models/glm-5p1||1.4|4.4|0.26
glm-5p1-fast accounts/fireworks/routers/glm-5p1-fast||2.8|8.8|0.52
glm-5p2 accounts/fireworks/models/glm-5p2|1040000|1.4|4.4|0.14
glm-5p2-fast accounts/fireworks/routers/glm-5p2-fast accounts/fireworks/routers/glm-5p2-fast-us|1040000|2.1|6.6|0.21
gpt-oss-120b accounts/fireworks/models/gpt-oss-120b|131072|0.15|0.6|0.014
gpt-oss-20b accounts/fireworks/models/gpt-oss-20b|131072|0.07|0.3|0.035
inkling accounts/fireworks/models/inkling|1040000|1|4.05|0.17
kimi-k2p5 accounts/fireworks/models/kimi-k2p5|262144|0.6|3|0.1
kimi-k2p6 accounts/fireworks/models/kimi-k2p6||0.95|4|0.16
kimi-k2p6-fast accounts/fireworks/routers/kimi-k2p6-fast|262144|2|8|0.3
kimi-k2p7-code accounts/fireworks/models/kimi-k2p7-code|262144|0.95|4|0.19
kimi-k2p7-code-fast accounts/fireworks/routers/kimi-k2p7-code-fast|262144|1.9|8|0.38
kimi-k3 accounts/fireworks/models/kimi-k3|1040000|3|15|0.3
kimi-k3-fast accounts/fireworks/routers/kimi-k3-fast|1040000|4.5|22.5|0.45
kimi-k3-us accounts/fireworks/routers/kimi-k3-us|1040000|3.3|16.5|0.33
llama-v3p1-8b-instruct accounts/fireworks/models/llama-v3p1-8b-instruct|131000|0.2|0.2
llama4-maverick-instruct-basic accounts/fireworks/models/llama4-maverick-instruct-basic|1000000|0.22|0.88
minimax-m2p1 accounts/fireworks/models/minimax-m2p1|204800|0.3|1.2
minimax-m2p7 accounts/fireworks/models/minimax-m2p7||0.3|1.2|0.06
minimax-m3 accounts/fireworks/models/minimax-m3|524288|0.3|1.2|0.06
nemotron-3-ultra-nvfp4 accounts/fireworks/models/nemotron-3-ultra-nvfp4|262000|0.6|2.4|0.12
qwen2p5-vl-72b-instruct accounts/fireworks/models/qwen2p5-vl-72b-instruct|128000|0.9|0.9
qwen3-235b-a22b accounts/fireworks/models/qwen3-235b-a22b|128000|0.22|0.88
qwen3p6-plus accounts/fireworks/models/qwen3p6-plus||0.5|3|0.1
qwen3p7-plus accounts/fireworks/models/qwen3p7-plus|262144|0.4|1.6|0.08
`;
