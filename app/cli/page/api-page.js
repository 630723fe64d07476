SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#api',
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [locksWhereNeeded],
  layout: 'BaseLayout',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null, // it would send the address of this server to a third party
})

/** Draws a lock only on operations that need a credential: Swagger UI draws a closed one where it is optional. */
function locksWhereNeeded() {
  const withoutOptional = (ways) => (ways?.some((way) => way.isEmpty()) ? ways.clear() : ways)
  const OperationSummary = (Original, { React }) => {
    return ({ operationProps, ...others }) =>
      React.createElement(Original, { ...others, operationProps: operationProps.update('security', withoutOptional) })
  }
  return { wrapComponents: { OperationSummary } }
}
