//! Lists: all their pages, or an error.

use reqwest::header::{ETAG, HeaderMap, LINK};
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answers::Kept;
use super::client::{Ask, Client};
use crate::error::ForgeError;
use crate::words::{Listed, Unread};

/// Pages of one list, of a hundred entries each.
const PAGES: u32 = 50;

/// Where a list is, and what of it is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'a> {
    pub path: &'a [String],
    pub query: &'a [(&'a str, &'a str)],
    /// The key of an answer under which the entries are; `None` where the answer is the list.
    pub under: Option<&'static str>,
    /// Whether it is asked for again and again: what has not changed since costs nothing then.
    pub polled: bool,
    /// How many of its pages are enough, of a hundred entries each; `None` where only all of them are.
    pub enough: Option<u32>,
}

impl<'a> Query<'a> {
    pub fn of(path: &'a [String], query: &'a [(&'a str, &'a str)]) -> Self {
        Self {
            path,
            query,
            under: None,
            polled: false,
            enough: None,
        }
    }

    pub fn first_pages(self, enough: u32) -> Self {
        Self {
            enough: Some(enough),
            ..self
        }
    }

    pub fn polled(self) -> Self {
        Self {
            polled: true,
            ..self
        }
    }
}

impl Client {
    /// A whole list. One entry that is not what it should be is named, and the others are there.
    pub async fn list<T: DeserializeOwned>(
        &self,
        query: Query<'_>,
    ) -> Result<Listed<T>, ForgeError> {
        let mut listed = Listed::default();
        for raw in self.pages(query).await? {
            match T::deserialize(&raw) {
                Ok(one) => listed.found.push(one),
                Err(error) => {
                    let number = raw["number"].as_u64().or(raw["id"].as_u64());
                    let number = number.map_or("?".to_owned(), |number| number.to_string());
                    listed.unread.push(Unread {
                        place: format!("{}/{number}", query.path.join("/")),
                        why: self.hide(&error.to_string()),
                    });
                }
            }
        }
        Ok(listed)
    }

    /// A list of which nothing may be left out.
    pub async fn whole_list<T: DeserializeOwned>(
        &self,
        query: Query<'_>,
    ) -> Result<Vec<T>, ForgeError> {
        let Listed { found, unread } = self.list(query).await?;
        match unread.into_iter().next() {
            Some(Unread { place, why }) => Err(ForgeError::Record { place, why }),
            None => Ok(found),
        }
    }

    /// All pages of a list that is asked for whole. Half of one would be worse than none: the claim that counts may stand
    /// in the other half.
    async fn pages(&self, of: Query<'_>) -> Result<Vec<Value>, ForgeError> {
        let incomplete = |why: String| ForgeError::Unavailable {
            detail: format!("the list {}: {why}", of.path.join("/")),
        };
        let mut query = of.query.to_vec();
        query.push(("per_page", "100"));
        let mut url = self.url(of.path, &query)?;
        let mut all = Vec::new();
        for read in 1..=PAGES {
            let page = self.page(url, of.polled).await?;
            all.extend(self.entries(&page, of.under)?);
            url = match next_page(page.link.as_deref()) {
                None => return Ok(all),
                Some(_) if of.enough.is_some_and(|enough| read >= enough) => return Ok(all),
                Some(next) if next.origin() == self.base.origin() => next,
                // The token goes to no other host.
                Some(_) => return Err(incomplete("its next page is on another host".into())),
            };
        }
        Err(incomplete(format!("it has more than {PAGES} pages")))
    }

    /// One page, as it is now or as it still is.
    async fn page(&self, url: Url, polled: bool) -> Result<Kept, ForgeError> {
        let known = match polled {
            true => self.answers.of(&url).await,
            false => None,
        };
        let ask = Ask {
            known: known.as_ref().and_then(|kept| kept.etag.parse().ok()),
            ..Ask::new(Method::GET, url.clone(), None)
        };
        let answer = self.request(ask).await?;
        if let Some(known) = known.filter(|_| answer.status == StatusCode::NOT_MODIFIED) {
            return Ok(known);
        }
        let page = Kept {
            etag: text(&answer.headers, ETAG.as_str()).unwrap_or_default(),
            link: links(&answer.headers),
            body: String::from_utf8_lossy(&answer.body).into_owned(),
        };
        if polled && !page.etag.is_empty() {
            self.answers.keep(&url, &page).await;
        }
        Ok(page)
    }

    fn entries(&self, page: &Kept, under: Option<&str>) -> Result<Vec<Value>, ForgeError> {
        let Some(key) = under else {
            return self.parse(page.body.as_bytes());
        };
        let mut object: Value = self.parse(page.body.as_bytes())?;
        match object[key].take() {
            Value::Array(entries) => Ok(entries),
            _ => Err(ForgeError::Unavailable {
                detail: format!("an answer that is none: it has no {key}"),
            }),
        }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

fn links(headers: &HeaderMap) -> Option<String> {
    let links = headers.get_all(LINK).into_iter();
    let links: Vec<&str> = links.filter_map(|link| link.to_str().ok()).collect();
    (!links.is_empty()).then(|| links.join(", "))
}

/// `Link: <…>; rel="next"` (RFC 8288). An address may hold commas and semicolons.
fn next_page(links: Option<&str>) -> Option<Url> {
    let links = links?.split('<').skip(1);
    links.into_iter().find_map(|link| {
        let (url, rest) = link.split_once('>')?;
        let mut params = rest.split([';', ',']).map(str::trim);
        params
            .any(|param| matches!(param, "rel=\"next\"" | "rel=next"))
            .then(|| Url::parse(url).ok())?
    })
}
