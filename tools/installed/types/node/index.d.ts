/// <reference path="../../../../node_modules/@types/node22/index.d.ts" />
