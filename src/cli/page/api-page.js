SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#api',
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
  deepLinking: true,
  validatorUrl: null, // it would send the address of this server to a third party
})
