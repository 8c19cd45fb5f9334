// The API's page: the sign-in of the browser is used, so writes carry the forgery token.
const place = document.getElementById("swagger");
SwaggerUIBundle({
  url: place.dataset.spec,
  domNode: place,
  deepLinking: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = document.querySelector("meta[name=csrf-token]").content;
    return request;
  },
});
const page = document.documentElement;
const match = () => page.classList.toggle("dark-mode", page.dataset.bsTheme === "dark");
match();
new MutationObserver(match).observe(page, { attributeFilter: ["data-bs-theme"] });
